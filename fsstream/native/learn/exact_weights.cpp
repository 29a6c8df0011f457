#include <cmath>

#include "learn/sketched_weights.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

void ExactWeights::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  SketchedWeights::hash(batch, first, size, longest);
  active_values_.reserve(longest + kSlack);
  others_.reserve(longest + kSlack);
  others_values_.reserve(longest + kSlack);
  others_hashed_.resize(2, longest + kSlack);
  slots_of_run_.look_up(active_, {batch.keys.data() + first, sketch_.rows(hashed_, 0)}, size);
}

double ExactWeights::score(const Row& row) {
  const PartedRow parts{slots_.data(),         listed_.data(),           active_values_.data(),   others_.data(),
                        others_values_.data(), others_hashed_.column(0), others_hashed_.column(1)};
  active_count_ = slots_of_run_.part_row(row.hashed, row.size, row.values(), parts);
  return scale_ *
         kernels_.dot_slots(active_.weights(), active_.stride(), slots_.data(), active_values_.data(), active_count_);
}

void ExactWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / scale_);
  for (std::size_t i = 0; i < active_count_; ++i) active_.weight(slots_[i]) += step * active_values_[i];
  check_names(row, listed_.data(), active_count_);
  add_others(row, static_cast<float>(coefficient / sketch_.scale()));
}

void ExactWeights::add_others(const Row& row, float coefficient) {
  const std::size_t count = row.size - active_count_;
  const BlockRows rows = sketch_.rows(others_hashed_, 0);
  sketch_.kernels().estimate(rows, count, estimates_.data());
  // T as the sketch's cells see it. Who is listed is judged again, by the weight it would have
  // and by the T of that moment: entering may prune.
  const double ratio = sketch_.scale() / scale_;
  const auto nearly = static_cast<float>(threshold_ / ratio * (1.0 - 1e-6));
  const std::size_t above = kernels_.step_above(estimates_.data(), others_values_.data(), count, coefficient, nearly,
                                                steps_.data(), listed_.data());
  sketch_.kernels().add(rows, count, steps_.data());
  for (std::size_t i = 0; i < above; ++i) {
    const std::uint32_t at = listed_[i];
    const auto weight = static_cast<float>(static_cast<double>(estimates_[at] + steps_[at]) * ratio);
    if (std::fabs(weight) > threshold_) enter(row, others_[at], weight);
  }
}

void ExactWeights::enter(const Row& row, std::size_t j, float weight) {
  const Key key = row.keys()[j];
  if (active_.find(key, homes(row)[j]) != ActiveSet::kNone) return;  // twice in the row
  const std::size_t next_row = row.hashed + row.size;
  const std::uint32_t slot = active_.insert(key, homes(row)[j], weight, active_.add_name(*row.batch, row.first + j));
  slots_of_run_.mark(key, slot, next_row);
  if (!active_.full()) return;
  prune();
  slots_of_run_.look_up_again(active_, next_row);
}

void ExactWeights::prune() {
  active_.list_entries(candidates_);
  keep_best([this](std::span<ActiveSet::Entry> left) { hand_over(left); });
}

// What leaves gives the sketch what it does not know of it; like the keys of a row, all are read before
// any is changed.
void ExactWeights::hand_over(std::span<ActiveSet::Entry> left) {
  ActiveSet::sort_by_key(left);
  const double ratio = scale_ / sketch_.scale();
  Asked& asked = ask(left);
  for (std::size_t i = 0; i < left.size(); ++i)
    asked.estimates[i] = static_cast<float>(left[i].weight * ratio) - asked.estimates[i];
  sketch_.kernels().add(sketch_.rows(asked.hashed, 0), left.size(), asked.estimates.data());
}

void ExactWeights::shrink(double factor) {
  attenuate(factor);
  scale_ *= factor;
  if (scale_ >= kSmallestFloatScale) return;
  active_.scale_weights(scale_);
  threshold_ = static_cast<float>(threshold_ * scale_);
  scale_ = 1.0;
}

void ExactWeights::attenuate(double factor) {
  double rewritten;
  sketch_.shrink(factor, rewritten);
}

void ExactWeights::seed(Key key, const std::string& name, float weight) {
  const std::uint32_t home = sketch_.home(key);
  const std::uint32_t slot = active_.find(key, home);
  const auto stored = static_cast<float>(weight / scale_);
  if (slot != ActiveSet::kNone) {
    active_.weight(slot) = stored;
    return;
  }
  active_.insert(key, home, stored, active_.add_name(name, key));
  if (active_.full()) prune();
}

float ExactWeights::weight_of(const ActiveSet::Entry& entry) const { return static_cast<float>(entry.weight * scale_); }

void ExactWeights::save(StateWriter& out) const { save_shared(out, scale_, 0.0); }

void ExactWeights::load(const StateReader& in) { scale_ = load_shared(in)[0]; }

}  // namespace fsstream

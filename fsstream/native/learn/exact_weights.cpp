#include <cmath>

#include "learn/sketched_weights.hpp"

namespace fsstream {

void ExactWeights::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  SketchedWeights::hash(batch, first, size, longest);
  others_.reserve(longest + kSlack);
  others_values_.reserve(longest + kSlack);
  others_hashed_.resize(static_cast<std::size_t>(sketch_.depth()), longest + kSlack);
}

double ExactWeights::score(const Row& row) {
  active_count_ = kernels_.split(active_.buckets(), row.keys(), homes(row), row.size, slots_.data(), listed_.data(),
                                 others_.data());
  return scale_ * kernels_.dot_listed(active_.weights(), slots_.data(), row.values(), listed_.data(), active_count_);
}

void ExactWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / scale_);
  for (std::size_t i = 0; i < active_count_; ++i) active_.weight(slots_[i]) += step * row.values()[listed_[i]];
  check_names(row, listed_.data(), active_count_);
  gather_others(row);
  add_others(row, static_cast<float>(coefficient / sketch_.scale()));
}

// Places and values of the entries that are not active, side by side.
void ExactWeights::gather_others(const Row& row) {
  const std::size_t count = row.size - active_count_;
  for (std::size_t r = 0; r < static_cast<std::size_t>(sketch_.depth()); ++r)
    kernels_.take(hashed_.column(r) + row.hashed, others_.data(), count, others_hashed_.column(r));
  for (std::size_t i = 0; i < count; ++i) others_values_[i] = row.values()[others_[i]];
}

void ExactWeights::add_others(const Row& row, float coefficient) {
  const std::size_t count = row.size - active_count_;
  const SketchRows rows = sketch_.rows(others_hashed_, 0);
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
  active_.insert(key, homes(row)[j], weight, active_.add_name(*row.batch, row.first + j));
  if (active_.full()) prune();
}

// Those that leave hand over what the sketch does not know of them; like the keys of a row,
// all are read before any is changed.
void ExactWeights::prune() {
  std::vector<ActiveSet::Entry> all = active_.entries();
  const double ratio = scale_ / sketch_.scale();
  std::vector<ActiveSet::Entry> left = keep_best(all);
  Asked asked = ask(left);
  for (std::size_t i = 0; i < left.size(); ++i)
    asked.estimates[i] = static_cast<float>(left[i].weight * ratio) - asked.estimates[i];
  sketch_.kernels().add(sketch_.rows(asked.hashed, 0), left.size(), asked.estimates.data());
}

void ExactWeights::shrink(double factor) {
  constexpr double kSmallest = 1e-9;
  attenuate(factor);
  scale_ *= factor;
  if (scale_ >= kSmallest) return;
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

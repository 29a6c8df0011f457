#include <cmath>

#include "learn/sketched_weights.hpp"

namespace fsstream {

double ExactWeights::score(const Row& row) {
  slots_.reserve(estimates_.capacity());
  const std::uint32_t* homes = hashed_.column(static_cast<std::size_t>(sketch_.depth())) + row.hashed;
  const Key* keys = row.keys();
  others_ = 0;
  for (std::size_t j = 0; j < row.size; ++j) {
    const std::uint32_t slot = active_.find(keys[j], homes[j]);
    const bool active = slot != ActiveSet::kNone;
    slots_[j] = slot;
    estimates_[j] = active ? active_.weight(slot) : 0.0F;
    listed_[others_] = static_cast<std::uint32_t>(j);
    others_ += active ? 0 : 1;
  }
  constexpr float kAll = -1.0F;
  return scale_ * row_kernels().dot_above(estimates_.data(), row.values(), row.size, kAll);
}

void ExactWeights::add(const Row& row, double coefficient) {
  add_active(row, static_cast<float>(coefficient / scale_));
  add_others(row, static_cast<float>(coefficient / sketch_.scale()));
}

void ExactWeights::add_active(const Row& row, float coefficient) {
  const bool check = active_.must_check(*row.batch);
  const float* values = row.values();
  for (std::size_t j = 0; j < row.size; ++j) {
    const std::uint32_t slot = slots_[j];
    if (slot == ActiveSet::kNone) continue;
    active_.weight(slot) += coefficient * values[j];
    if (check) active_.check_name(slot, *row.batch, row.first + j);
  }
}

void ExactWeights::add_others(const Row& row, float coefficient) {
  for (std::size_t i = 0; i < others_; ++i) steps_[i] = coefficient * row.values()[listed_[i]];
  sketch_.kernels().add_listed(sketch_.rows(hashed_, row.hashed), listed_.data(), others_, steps_.data(),
                               estimates_.data());
  const double ratio = sketch_.scale() / scale_;
  for (std::size_t i = 0; i < others_; ++i) {
    const auto weight = static_cast<float>(static_cast<double>(estimates_[i] + steps_[i]) * ratio);
    if (std::fabs(weight) > threshold_) enter(row, listed_[i], weight);
  }
}

void ExactWeights::enter(const Row& row, std::size_t j, float weight) {
  const Key key = row.keys()[j];
  const std::uint32_t home = hashed_.column(static_cast<std::size_t>(sketch_.depth()))[row.hashed + j];
  if (active_.find(key, home) != ActiveSet::kNone) return;  // twice in the row
  active_.insert(key, home, weight, active_.add_name(*row.batch, row.first + j));
  if (active_.full()) prune();
}

void ExactWeights::prune() {
  std::vector<ActiveSet::Entry> all = active_.entries();
  const double ratio = scale_ / sketch_.scale();
  for (const ActiveSet::Entry& left : keep_best(all))
    sketch_.add(left.key, static_cast<float>(left.weight * ratio) - sketch_.query(left.key));
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

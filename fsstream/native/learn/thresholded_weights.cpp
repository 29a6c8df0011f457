#include "learn/thresholded_weights.hpp"

#include <algorithm>
#include <cmath>

#include "learn/limits.hpp"

namespace fsstream {

namespace {

constexpr double kSmallestScale = 1e-60;

}  // namespace

void ThresholdedWeights::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t seats = std::min(set_.size() + entries, k_);
  table_.reserve(seats);
  set_.reserve(entries);
  names_.reserve(batch, set_.size(), seats);
}

double ThresholdedWeights::look_up(const Row& row) {
  members_.clear();
  others_.clear();
  double sum = 0.0;
  for (std::size_t j = row.first; j < row.first + row.size; ++j) {
    const Slot seat = table_.find(row.batch->keys[j]);
    if (seat == kNobody) {
      others_.push_back(j);
      continue;
    }
    members_.push_back({j, seat});
    sum += set_.weight(seat) * static_cast<double>(row.batch->values[j]);
  }
  return sum;
}

double ThresholdedWeights::score(const Row& row) { return scale_ * look_up(row); }

void ThresholdedWeights::move_members(const Batch& batch, double step) {
  for (const auto& [j, seat] : members_) {
    names_.check(seat, batch, j);
    set_.weight(seat) += step * static_cast<double>(batch.values[j]);
    set_.score(seat) = std::abs(set_.weight(seat));
    set_.touch(seat);
  }
}

void ThresholdedWeights::add(const Row& row, double coefficient) {
  const Batch& batch = *row.batch;
  const double step = coefficient / scale_;
  reserve(batch, others_.size());
  move_members(batch, step);
  for (const std::size_t j : others_) {
    const double weight = step * static_cast<double>(batch.values[j]);
    if (weight == 0.0 || table_.find(batch.keys[j]) != kNobody) continue;  // twice in the row
    const Slot seat = offer(batch.keys[j], weight);
    if (seat != kNobody) names_.keep(seat, batch, j);
  }
}

Slot ThresholdedWeights::offer(Key key, double weight) {
  const bool full = set_.full();
  dropped_ += full ? 1 : 0;
  if (!set_.admits(key, std::abs(weight))) return kNobody;
  if (full)
    table_.replace(set_.weakest(), {key});
  else
    table_.add({key});
  return set_.enter(key, weight, std::abs(weight));
}

void ThresholdedWeights::shrink(double factor) {
  scale_ *= factor;
  if (scale_ < kSmallestScale) rescale();
}

void ThresholdedWeights::rescale() {
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    set_.weight(seat) *= scale_;
    set_.score(seat) = std::abs(set_.weight(seat));
  }
  scale_ = 1.0;
  set_.rebuild();
}

void ThresholdedWeights::seed(Key key, const std::string& name, float weight) {
  Batch one;
  one.start(name, nullptr);
  one.naming = Naming::kText;
  one.names.push_back({0, static_cast<std::uint32_t>(name.size())});
  if (table_.find(key) != kNobody) return;
  reserve(one, 1);
  const Slot seat = offer(key, weight / scale_);
  if (seat != kNobody) names_.keep(seat, one, 0);
}

std::vector<Chosen> ThresholdedWeights::top() const {
  std::vector<Chosen> chosen;
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    const auto weight = static_cast<float>(set_.weight(seat) * scale_);
    if (weight != 0.0F) chosen.push_back({set_.key(seat), weight, names_.spell(seat, set_.key(seat))});
  }
  return chosen;
}

std::vector<std::pair<std::string, std::uint64_t>> ThresholdedWeights::counts() const {
  return {{"candidates", set_.size()}, {"dropped", dropped_}, {"collisions", names_.collisions()}};
}

std::size_t ThresholdedWeights::bytes() const { return set_.bytes(set_.size()) + table_.bytes() + names_.bytes(); }

void ThresholdedWeights::save(StateWriter& out) const {
  out.put("keys", set_.keys());
  out.put("weights", set_.weights());
  out.put("scale", std::span<const double>(&scale_, 1));
  out.put("dropped", std::span<const std::uint64_t>(&dropped_, 1));
  names_.save(out, set_.size());
}

void ThresholdedWeights::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto weights = of_size(in.doubles("weights"), keys.size(), "weights");
  check_state(keys.size() <= k_ && in_range(weights));
  scale_ = of_size(in.doubles("scale"), 1, "scale")[0];
  dropped_ = of_size(in.words("dropped"), 1, "dropped")[0];
  table_.reserve(keys.size());
  set_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table_.add({keys[i]});
    set_.enter(keys[i], weights[i], std::abs(weights[i]));
  }
  names_.load(in, keys.size());
}

}  // namespace fsstream

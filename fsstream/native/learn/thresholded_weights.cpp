#include "learn/thresholded_weights.hpp"

#include "learn/limits.hpp"

namespace fsstream {

double ThresholdedWeights::score(const Row& row) {
  return seats_.scale() * seats_.look_up(*row.batch, row.first, row.first + row.size);
}

void ThresholdedWeights::add(const Row& row, double coefficient) {
  move_and_offer(row, coefficient,
                 [this](const Batch& batch, std::size_t j, double weight) { offer(batch, j, weight); });
}

void ThresholdedWeights::shrink(double factor) {
  seats_.shrink(factor);
  if (seats_.scale() < SeatedWeights::kSmallestScale) seats_.fold_scale();
}

void ThresholdedWeights::seed(Key key, const std::string& name, float weight) {
  seats_.seed(key, name, static_cast<double>(weight) / seats_.scale());
}

std::vector<std::pair<std::string, std::uint64_t>> ThresholdedWeights::counts() const {
  return {{"candidates", seats_.size()}, {"dropped", dropped_}, {"collisions", seats_.collisions()}};
}

void ThresholdedWeights::save(StateWriter& out) const {
  const double scale = seats_.scale();
  out.put("scale", std::span<const double>(&scale, 1));
  out.put("dropped", std::span<const std::uint64_t>(&dropped_, 1));
  seats_.save(out);
}

void ThresholdedWeights::load(const StateReader& in) {
  seats_.set_scale(of_size(in.doubles("scale"), 1, "scale")[0]);
  dropped_ = of_size(in.words("dropped"), 1, "dropped")[0];
  seats_.load(in);
}

}  // namespace fsstream

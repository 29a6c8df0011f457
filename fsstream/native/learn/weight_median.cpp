#include "learn/weight_median.hpp"

#include <algorithm>
#include <cmath>

#include "sketch/median.hpp"

namespace fsstream {

namespace {

constexpr double kSmallestScale = 1e-9;  // cells are float32

}  // namespace

void WeightMedian::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t) {
  sketch_.hash(batch.keys.data() + first, size, hashed_);
}

double WeightMedian::score(const Row& row) {
  const double active = look_up(row);
  const SketchRows rows = sketch_.rows(hashed_, row.hashed);
  double others = 0.0;
  for (const std::size_t j : others_) {
    double sum = 0.0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(sketch_.depth()); ++r) {
      const std::uint32_t place = rows.columns[r * rows.stride + j - row.first];
      sum += signed_by(rows.cells[r * rows.width + (place & ~kSignBit)], place);
    }
    others += sum / sketch_.depth() * static_cast<double>(row.batch->values[j]);
  }
  return scale_ * (active + others);
}

void WeightMedian::add(const Row& row, double coefficient) {
  const Batch& batch = *row.batch;
  const double step = coefficient / scale_;
  reserve(batch, others_.size());
  move_members(batch, step);
  for (const std::size_t j : others_) {
    const Key key = batch.keys[j];
    const auto change = static_cast<float>(step * static_cast<double>(batch.values[j]));
    if (change == 0.0F || table_.find(key) != kNobody) continue;  // twice in the row
    const float weight = sketch_.query(key) + change;
    const bool full = set_.full();
    const Key leaving = full ? set_.key(set_.weakest()) : 0;
    const double left = full ? set_.weight(set_.weakest()) : 0.0;
    const Slot seat = offer(key, weight);
    if (seat == kNobody) {
      sketch_.add(key, change);
      continue;
    }
    names_.keep(seat, batch, j);
    if (full) sketch_.add(leaving, static_cast<float>(left) - sketch_.query(leaving));
  }
}

void WeightMedian::shrink(double factor) {
  scale_ *= factor;
  if (scale_ >= kSmallestScale) return;
  for (float& cell : sketch_.cells()) cell = static_cast<float>(cell * scale_);
  rescale();
}

void WeightMedian::save(StateWriter& out) const {
  ThresholdedWeights::save(out);
  out.put("sketch", sketch_.cells());
}

void WeightMedian::load(const StateReader& in) {
  const auto cells = of_size(in.floats("sketch"), sketch_.cells().size(), "sketch");
  std::copy(cells.begin(), cells.end(), sketch_.cells().begin());
  ThresholdedWeights::load(in);
}

}  // namespace fsstream

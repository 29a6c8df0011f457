#include "solve/quadratic_model.hpp"

#include <algorithm>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "core/stop.hpp"
#include "solve/soft_threshold.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kMostSweeps = 1000;
constexpr std::size_t kWholeSweep = 10;  // every so often all columns are looked at, not only those with a weight
constexpr double kSmallestGain = 1e-3;   // of the first sweep's
constexpr double kSmallestDiagonal = 1e-12;

void add_row(float a, const float* row, float* slopes, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) slopes[i] += a * row[i];
}
const auto best_add_row = Compiled<&add_row>::best();

}  // namespace

void QuadraticModel::build(std::span<const std::uint32_t> members, std::span<const float* const> columns,
                           std::span<const double> curvatures, std::size_t rows_a_column, bool intercept,
                           std::size_t threads) {
  rows_.choose(curvatures, rows_a_column * columns.size());
  gram_.build(columns, rows_.rows(), rows_.factors(), intercept, threads);
  members_.assign(members.begin(), members.end());
  total_ = rows_.total();
  reused_ = false;
}

void QuadraticModel::use_again(std::span<const double> curvatures) {
  total_ = sum_in_lanes(curvatures.size(), [&](std::size_t i) { return curvatures[i]; });
  reused_ = true;
}

std::vector<double> QuadraticModel::minimise(std::span<const double> gradients, std::span<const double> weights,
                                             double l1, double l2) const {
  const std::size_t size = members_.size();
  const double scale = rows_.total() > 0.0 ? total_ / rows_.total() : 1.0;
  std::vector<double> steps(size);
  AlignedFloats changes;  // of the gradients, by the steps: small ones keep their digits beside large gradients
  changes.assign_zeros(std::max<std::size_t>(size, 1));
  double first_gain = 0;
  for (std::size_t sweep = 0; sweep < kMostSweeps; ++sweep) {
    leave_if_stopped();
    double gain = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double at = weights[j] + steps[j];
      if (sweep % kWholeSweep != 0 && at == 0.0) continue;
      const float* row = gram_.row(j);
      const double bend = scale * static_cast<double>(row[j]) + l2 + kSmallestDiagonal;
      const double slope = gradients[j] + static_cast<double>(changes.data()[j]) + l2 * at;
      const double moved = soft_threshold(at - slope / bend, l1 / bend) - at;
      if (moved == 0.0) continue;
      best_add_row(static_cast<float>(scale * moved), row, changes.data(), size);
      steps[j] += moved;
      gain += bend * moved * moved;
    }
    if (sweep == 0) first_gain = gain;
    if (gain <= kSmallestGain * first_gain) break;
  }
  return steps;
}

double QuadraticModel::bias_step(std::span<const double> steps, double slope_sum) const {
  const auto means = gram_.means();
  const double along = sum_in_lanes(steps.size(), [&](std::size_t j) { return means[j] * steps[j]; });
  return total_ > 0.0 ? -slope_sum / total_ - along : 0.0;
}

}  // namespace fsstream

#include "solve/ridge_system.hpp"

#include "core/lanes.hpp"
#include "core/stop.hpp"
#include "solve/float_columns.hpp"

namespace fsstream {

namespace {

constexpr double kSmallestCurvature = 1e-12;
constexpr double kResidual = 1e-2;  // of the energy: Newton's own iterations do the rest
constexpr std::size_t kMostSteps = 200;
constexpr std::size_t kStaleSteps = 10;  // so many, and the next Newton step has a preconditioner of its own

}  // namespace

double RidgeSystem::best_bias(std::span<const double> along, double curvature_sum) const {
  if (!intercept || curvature_sum < kSmallestCurvature) return 0.0;
  return -sum_in_lanes(along.size(), [&](std::size_t i) { return curvatures[i] * along[i]; }) / curvature_sum;
}

std::size_t RidgeSystem::solve(std::vector<double> residual, RidgeModel& inverse, std::span<double> weights,
                               double& bias) const {
  const std::size_t rows = curvatures.size(), count = columns.size();
  if (!inverse.built()) inverse.build(columns, curvatures, l2, intercept, threads);
  const double curvature_sum = sum_in_lanes(rows, [&](std::size_t i) { return curvatures[i]; });
  std::vector<double> solved = residual;
  inverse.apply(solved);
  const auto energy = [&] { return sum_in_lanes(count, [&](std::size_t j) { return residual[j] * solved[j]; }); };
  std::vector<double> direction = solved, along(rows), product(count);
  double left = energy();
  const double wanted = left * kResidual;
  std::size_t steps = 0;
  for (; steps < kMostSteps && left > wanted && left > 0.0; ++steps) {
    leave_if_stopped();
    combine_columns(columns, direction, 0.0, along, threads);
    const double shift = best_bias(along, curvature_sum);
    for (std::size_t i = 0; i < rows; ++i) along[i] = curvatures[i] * (along[i] + shift);
    dots(columns, along.data(), rows, product.data(), threads);
    for (std::size_t j = 0; j < count; ++j) product[j] += l2 * direction[j];
    const double bend = sum_in_lanes(count, [&](std::size_t j) { return direction[j] * product[j]; });
    if (!(bend > 0.0)) break;
    const double length = left / bend;
    for (std::size_t j = 0; j < count; ++j) weights[j] += length * direction[j];
    bias += length * shift;
    for (std::size_t j = 0; j < count; ++j) residual[j] -= length * product[j];
    solved = residual;
    inverse.apply(solved);
    const double before = left;
    left = energy();
    for (std::size_t j = 0; j < count; ++j) direction[j] = solved[j] + left / before * direction[j];
  }
  if (steps > kStaleSteps) inverse.forget();
  return steps;
}

}  // namespace fsstream

#include "solve/curved_rows.hpp"

#include <algorithm>
#include <functional>

#include "core/lanes.hpp"
#include "hash/mix.hpp"

namespace fsstream {

namespace {

constexpr double kCurvatureShare = 0.99;  // of the whole: rows beyond it are the flattest
constexpr std::size_t kFewestRows = 1024;

// The smallest curvature among the largest ones that make up the share.
double flattest(std::span<const double> curvatures, double total) {
  std::vector<double> sorted(curvatures.begin(), curvatures.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  for (const double one : sorted) {
    sum += one;
    if (sum >= kCurvatureShare * total) return one;
  }
  return 0.0;
}

}  // namespace

void CurvedRows::choose(std::span<const double> curvatures, std::size_t most) {
  most = std::max(most, kFewestRows);
  total_ = sum_in_lanes(curvatures.size(), [&](std::size_t i) { return curvatures[i]; });
  const double least = flattest(curvatures, total_);
  const auto curved = [&](std::size_t i) { return curvatures[i] > 0.0 && curvatures[i] >= least; };
  std::size_t count = 0;
  for (std::size_t i = 0; i < curvatures.size(); ++i) count += curved(i);
  sampled_ = count > most;
  SplitMix draws(count);
  rows_.clear();
  factors_.clear();
  rows_.reserve(count);
  factors_.reserve(count);
  for (std::size_t i = 0; i < curvatures.size(); ++i) {
    if (!curved(i) || (sampled_ && draws.below(count) >= most)) continue;
    rows_.push_back(static_cast<std::uint32_t>(i));
    factors_.push_back(curvatures[i]);
  }
  const double taken = sum_in_lanes(factors_.size(), [&](std::size_t i) { return factors_[i]; });
  for (double& factor : factors_) factor *= total_ / taken;
}

}  // namespace fsstream

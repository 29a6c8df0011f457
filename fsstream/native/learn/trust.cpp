#include "learn/trust.hpp"

#include <algorithm>
#include <cmath>

#include "core/state.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

constexpr double kPrior = 32.0;  // rows that speak for p = q = 0
constexpr double kLeastSlope = 0.25;
constexpr double kLeast = 1.0 / 64.0;  // weights must not vanish
constexpr double kLargest = 8.0;

}  // namespace

double Trust::Shares::of(double d, double e) const {
  return std::clamp(1.0 + doubtful * d + held_back * e, kLeast, kLargest);
}

void Trust::meet(const Parts& parts, const RowLoss& loss, double importance, std::uint64_t row) {
  const double weight = importance * static_cast<double>(row) * static_cast<double>(row);
  numbers_[0] += weight;
  numbers_[1] += weight * weight;
  const double z[kParts] = {parts.all, parts.doubtful, parts.held_back, 1.0};
  const double curvature = weight * loss.curvature();
  const double pull = -weight * loss.slope();
  for (std::size_t i = 0; i < kParts; ++i) {
    double* sums = numbers_.data() + kHead + i * kRow;
    for (std::size_t j = 0; j < kParts; ++j) sums[j] += curvature * z[i] * z[j];
    sums[kParts] += pull * z[i];
  }
}

Trust::Shares Trust::shares() const {
  if (!(numbers_[kHead] > 0.0)) return {};
  std::array<double, kParts * kRow> system;
  std::copy_n(numbers_.data() + kHead, system.size(), system.data());
  const double rows_worth = numbers_[0] * numbers_[0] / numbers_[1];
  const double prior = kPrior * system[0] / rows_worth;
  const auto row = [&](std::size_t i) { return system.data() + i * kRow; };
  for (std::size_t i = 0; i < kParts; ++i) row(i)[i] += prior;
  for (std::size_t pivot = 0; pivot < kParts; ++pivot)  // A is positive definite: it needs no exchange of rows
    for (std::size_t i = 0; i < kParts; ++i) {
      if (i == pivot) continue;
      const double factor = row(i)[pivot] / row(pivot)[pivot];
      for (std::size_t j = pivot; j < kRow; ++j) row(i)[j] -= factor * row(pivot)[j];
    }
  const auto found = [&](std::size_t i) { return row(i)[kParts] / row(i)[i]; };
  const double slope = std::max(1.0 + found(0), kLeastSlope);
  const Shares shares{found(1) / slope, found(2) / slope};
  return std::isfinite(shares.doubtful) && std::isfinite(shares.held_back) ? shares : Shares{};
}

void Trust::restore(std::span<const double> numbers) {
  std::copy_n(of_size(numbers, numbers_.size(), "trust").begin(), numbers_.size(), numbers_.begin());
  for (std::size_t i = 0; i < kHead; ++i) check_state(numbers_[i] >= 0.0);
}

}  // namespace fsstream

#include "learn/calibration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/state.hpp"
#include "learn/flow.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

constexpr double kPrior = 8.0;              // rows that speak for a = 1 and c = 0
constexpr float kFinest = 0.125F;           // scores below it share a bin
constexpr float kFarthest = 1024.0F;        // beyond it all are taken for this
constexpr double kLeastSlope = 1.0 / 64.0;  // weights must not vanish,
constexpr double kLargestSlope = 64.0;      // nor run away where every score was right
constexpr int kQuarters = 21;               // bits of a float below the second digit
constexpr std::uint32_t kFirst = std::bit_cast<std::uint32_t>(kFinest) >> kQuarters;
constexpr std::uint32_t kOfSign = (std::bit_cast<std::uint32_t>(kFarthest) >> kQuarters) - kFirst + 1;
constexpr std::size_t kBins = 2 * kOfSign + 1;
constexpr std::size_t kHead = 2;  // before the sums

std::size_t bin_of(float score) {
  const float size = std::fabs(score);
  if (size < kFinest) return 0;
  const std::uint32_t place = (std::bit_cast<std::uint32_t>(size) >> kQuarters) - kFirst;
  return 1 + place + (score > 0.0F ? kOfSign : 0);
}

}  // namespace

Calibration::Calibration(const Loss& loss, bool with_offset)
    : loss_(loss),
      with_offset_(with_offset),
      numbers_(kHead + (loss.kind() == Loss::Kind::kSquared ? 5 : 4 * kBins), 0.0) {}

void Calibration::meet(double score, double target, double importance, std::uint64_t row) {
  const double weight = importance * static_cast<double>(row) * static_cast<double>(row);
  numbers_[0] += weight;
  numbers_[1] += weight * weight;
  double* sums = numbers_.data() + kHead;
  if (loss_.kind() == Loss::Kind::kSquared) {
    const double terms[] = {score, target, score * score, score * target};
    sums[0] += weight;
    for (int i = 0; i < 4; ++i) sums[i + 1] += weight * terms[i];
    return;
  }
  const auto near = std::clamp(static_cast<float>(score), -kFarthest, kFarthest);
  double* bin = sums + 4 * bin_of(near) + (target > 0.0 ? 2 : 0);
  bin[0] += weight;
  bin[1] += weight * static_cast<double>(near);
}

template <class Visit>
void Calibration::for_each_bin(Visit visit) const {
  const double share = rows_worth() / numbers_[0];
  for (std::size_t i = 0; i < 2 * kBins; ++i) {
    const double* bin = numbers_.data() + kHead + 2 * i;
    if (bin[0] > 0.0) visit(bin[1] / bin[0], i % 2 == 0 ? -1.0 : 1.0, share * bin[0]);
  }
}

double Calibration::rows_worth() const { return numbers_[0] * numbers_[0] / numbers_[1]; }

Calibration::Line Calibration::line() const {
  const bool says_something = numbers_[1] > 0.0 && std::isfinite(numbers_[1]);
  if (!says_something || loss_.kind() == Loss::Kind::kHinge) return {};
  const Line found = loss_.kind() == Loss::Kind::kSquared ? by_squares() : by_descent();
  if (!std::isfinite(found.slope) || !std::isfinite(found.offset)) return {};
  return {std::clamp(found.slope, kLeastSlope, kLargestSlope), found.offset};
}

// Least squares; the prior's rows have scores as far apart as those that were met, so that units do not matter.
Calibration::Line Calibration::by_squares() const {
  const double* sums = numbers_.data() + kHead;
  const double prior = kPrior / rows_worth();
  const double u = with_offset_ ? sums[1] / sums[0] : 0.0;
  const double y = with_offset_ ? sums[2] / sums[0] : 0.0;
  const double square = sums[3] / sums[0] - u * u;
  const double product = sums[4] / sums[0] - u * y;
  if (square <= 0.0) return {};
  const double slope = std::clamp((product + prior * square) / (square * (1.0 + prior)), kLeastSlope, kLargestSlope);
  return {slope, with_offset_ ? (y - slope * u) / (1.0 + prior) : 0.0};
}

double Calibration::objective(const Line& line) const {
  const double off = line.slope - 1.0;
  double sum = 0.5 * kPrior * (off * off + line.offset * line.offset);
  for_each_bin(
      [&](double u, double y, double weight) { sum += weight * loss_.at(line.slope * u + line.offset, y).value; });
  return sum;
}

// Newton's method on two numbers, steps halved until they help.
Calibration::Line Calibration::by_descent() const {
  constexpr int kSteps = 60;
  constexpr double kClose = 1e-9;
  Line line;
  double now = objective(line);
  for (int i = 0; i < kSteps; ++i) {
    double slope_a = kPrior * (line.slope - 1.0);
    double slope_c = kPrior * line.offset;
    double aa = kPrior;
    double ac = 0.0;
    double cc = kPrior;
    for_each_bin([&](double u, double y, double weight) {
      const double score = line.slope * u + line.offset;
      const double slope = weight * loss_.at(score, y).slope;
      const double curvature = weight * RowLoss(loss_, score, y).curvature();
      slope_a += slope * u;
      slope_c += slope;
      aa += curvature * u * u;
      ac += curvature * u;
      cc += curvature;
    });
    if (!with_offset_) ac = slope_c = 0.0;
    const double area = aa * cc - ac * ac;
    Line step{(cc * slope_a - ac * slope_c) / area, (aa * slope_c - ac * slope_a) / area};
    Line next{line.slope - step.slope, line.offset - step.offset};
    double then = objective(next);
    for (int halved = 0; !(then <= now) && halved < 40; ++halved) {
      step = {0.5 * step.slope, 0.5 * step.offset};
      next = {line.slope - step.slope, line.offset - step.offset};
      then = objective(next);
    }
    if (!(then < now)) break;
    const bool settled = now - then <= kClose * (1.0 + std::fabs(then));
    line = next;
    now = then;
    if (settled) break;
  }
  return line;
}

void Calibration::restore(std::span<const double> numbers) {
  std::copy(of_size(numbers, numbers_.size(), "calibration").begin(), numbers.end(), numbers_.begin());
  for (std::size_t i = 0; i < kHead; ++i) check_state(numbers_[i] >= 0.0);
}

}  // namespace fsstream

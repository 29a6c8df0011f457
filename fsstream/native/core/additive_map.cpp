#include "core/additive_map.hpp"

#include <cmath>
#include <stdexcept>

#include "core/math.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kHistogramFeatures = 100;
constexpr std::size_t kHarmonics = 5;
constexpr std::size_t kGaussianKnots = 129;
constexpr double kPi = 0x1.921fb54442d18p+1;

// cos(pi q / n) from the half-angle formula, the same on every machine: only roots and products.
struct Turn {
  double cosine, sine;
};

Turn turned(Turn a, Turn b) { return {a.cosine * b.cosine - a.sine * b.sine, a.sine * b.cosine + a.cosine * b.sine}; }

// The turn by pi q / 128, by its binary digits.
Turn turn_by(std::size_t q) {
  Turn digit{-1.0, 0.0};  // pi
  Turn result{1.0, 0.0};
  for (std::size_t bit = 128; bit != 0; bit /= 2) {
    if ((q & bit) != 0) result = turned(result, digit);
    digit = bit == 128 ? Turn{0.0, 1.0}
                       : Turn{std::sqrt((1.0 + digit.cosine) / 2.0), digit.sine / std::sqrt(2.0 + 2.0 * digit.cosine)};
  }
  return result;
}

}  // namespace

AdditiveMap::AdditiveMap(std::string_view kernel, double shape) : histogram_(kernel == "histogram") {
  if (!histogram_ && kernel != "gaussian") throw std::invalid_argument("additive kernels are histogram and gaussian");
  if (!(shape > 0.0) || !std::isfinite(shape)) throw std::invalid_argument("an exponent or a width is above zero");
  if (histogram_) {
    exponent_ = shape;
    features_ = kHistogramFeatures;
    knots_ = kHistogramFeatures + 1;
    for (std::size_t q = 0; q < knots_; ++q)
      for (std::size_t b = 0; b < features_; ++b)
        table_.push_back(q > b ? 1.0 / std::sqrt(static_cast<double>(features_)) : 0.0);
    return;
  }
  features_ = 2 * kHarmonics + 1;
  knots_ = kGaussianKnots;
  const double level = shape * std::sqrt(kPi / 2.0);
  for (std::size_t q = 0; q < knots_; ++q) {
    table_.push_back(std::sqrt(level));
    for (std::size_t m = 1; m <= kHarmonics; ++m) {
      const double angle = shape * kPi * static_cast<double>(m);
      const double size = std::sqrt(2.0 * level * fsstream::exp(-0.5 * angle * angle));
      const Turn turn = turn_by(m * q % 256);
      table_.push_back(size * turn.cosine);
      table_.push_back(size * turn.sine);
    }
  }
}

float AdditiveMap::place(float value, ValueRange range) const {
  const double v = static_cast<double>(value);
  const double low = static_cast<double>(range.low);
  const double high = static_cast<double>(range.high);
  double t = 0.0;
  if (histogram_) {
    t = std::min(std::abs(v) / std::max(std::abs(low), std::abs(high)), 1.0);
    if (exponent_ != 1.0 && t > 0.0) t = fsstream::exp(exponent_ * fsstream::log(t));
  } else if (high > low) {
    t = std::clamp((v - low) / (high - low), 0.0, 1.0);
  }
  return static_cast<float>(std::min(t, 1.0));
}

void AdditiveMap::features_of(const double* knot_sums, double* sums) const {
  if (histogram_) {  // phi_b is the same at every knot beyond b
    double beyond = 0.0;
    for (std::size_t b = features_; b-- > 0;) {
      beyond += knot_sums[b + 1];
      sums[b] = beyond * value(b + 1, b);
    }
    return;
  }
  std::fill(sums, sums + features_, 0.0);
  for (std::size_t q = 0; q < knots_; ++q) {
    if (knot_sums[q] == 0.0) continue;
    for (std::size_t f = 0; f < features_; ++f) sums[f] += knot_sums[q] * value(q, f);
  }
}

void AdditiveMap::at_knots(const double* weights, double* knot_values) const {
  if (histogram_) {
    knot_values[0] = 0.0;
    for (std::size_t b = 0; b < features_; ++b) knot_values[b + 1] = knot_values[b] + weights[b] * value(b + 1, b);
    return;
  }
  for (std::size_t q = 0; q < knots_; ++q) {
    knot_values[q] = 0.0;
    for (std::size_t f = 0; f < features_; ++f) knot_values[q] += weights[f] * value(q, f);
  }
}

void AdditiveMap::squares_of(const double* knot_squares, double* squares) const {
  std::fill(squares, squares + features_, 0.0);
  for (std::size_t q = 0; q + 1 < knots_; ++q) {
    const double* of = knot_squares + 3 * q;
    for (std::size_t f = 0; f < features_; ++f) {
      const double here = value(q, f);
      const double there = value(q + 1, f);
      squares[f] += of[0] * here * here + of[1] * here * there + of[2] * there * there;
    }
  }
}

}  // namespace fsstream

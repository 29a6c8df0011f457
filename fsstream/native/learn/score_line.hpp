// The order of B-ARDA's truncation, as it drifts.
//
// With z = -eta G / (tau + H), tau = lambda eta t, Algorithm 1 keeps the B largest
// H z^2. That is the order of
//
//   score(tau) = height / (tau + spread),   height = |G| sqrt(H),  spread = H,
//
// and 1 / score is a straight line in tau. Two lines cross at most once, so while neither
// is touched a pair changes places at most once. (Truncation by |z|, the ablation of
// section 4.1, is the same with height = |G|.)
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/batch.hpp"

namespace fsstream {

struct ScoreLine {
  double height = 0.0;
  double spread = 1.0;

  double score(double tau) const { return height / (tau + spread); }
};

// A difference larger than this share, of the larger side, is not made by rounding.
inline constexpr double kDoubt = 8 * std::numeric_limits<double>::epsilon();

// The largest float not above x, for 0 <= x.
inline float rounded_down(double x) {
  if (x >= 3e38) return 3e38F;
  const float near = static_cast<float>(x);
  return static_cast<double>(near) > x ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1) : near;
}

// Which of two is stronger: the larger score, then the smaller key. That is what the oracle
// sorts by; a quotient is taken only where the cross products leave a doubt about it.
inline bool stronger(const ScoreLine& a, Key a_key, const ScoreLine& b, Key b_key, double tau) {
  const double left = a.height * (tau + b.spread);
  const double right = b.height * (tau + a.spread);
  if (std::abs(left - right) > kDoubt * (left + right)) return left > right;
  const double a_score = a.score(tau);
  const double b_score = b.score(tau);
  return a_score > b_score || (a_score == b_score && a_key < b_key);
}

// The same, and a time before which the *computed* order surely stays. The stronger
// one leads by  lead = height (tau + other's spread) - other's height (tau + spread),  which falls
// by other's height - height for each unit of time. Asking for a lead of kDoubt times the
// first term leaves no room for rounding, here or in score(): kDoubt is 8 units in the last
// place, and about 5 roundings are involved. Lines closer than that give a time that has
// passed, and are compared again at every step; lines that are the same never part.
struct Comparison {
  bool first_stronger;
  float until;
};
inline Comparison compared(const ScoreLine& a, Key a_key, const ScoreLine& b, Key b_key, double tau) {
  constexpr float kForever = std::numeric_limits<float>::infinity();
  if (a.height == b.height && a.spread == b.spread) return {a_key < b_key, kForever};  // words seen once
  const bool first = stronger(a, a_key, b, b_key, tau);
  const double left = a.height * (tau + b.spread);
  const double right = b.height * (tau + a.spread);
  const double height = first ? a.height : b.height;
  const double sure = std::abs(left - right) - kDoubt * (first ? left : right);
  if (sure <= 0.0) return {first, 0.0F};
  const double loss = (first ? b.height : a.height) - height + kDoubt * height;
  return {first, loss <= 0.0 ? kForever : rounded_down(tau + sure / loss)};
}

}  // namespace fsstream

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

// The larger score first, then the smaller key: what the oracle sorts by. Divides only where
// the cross products leave a doubt about the order of the quotients.
inline bool stronger(const ScoreLine& a, Key a_key, const ScoreLine& b, Key b_key, double tau) {
  if (a.height == b.height && a.spread == b.spread) return a_key < b_key;  // common: words seen once
  const double left = a.height * (tau + b.spread);
  const double right = b.height * (tau + a.spread);
  if (std::abs(left - right) > kDoubt * (left + right)) return left > right;
  const double a_score = a.score(tau);
  const double b_score = b.score(tau);
  return a_score > b_score || (a_score == b_score && a_key < b_key);
}

// The largest float not above x, for 0 <= x.
inline float rounded_down(double x) {
  if (x >= 3e38) return 3e38F;
  const float near = static_cast<float>(x);
  return static_cast<double>(near) > x ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1) : near;
}

// `a` is stronger than `b` at tau: a time before which the *computed* scores surely agree.
//
// a leads while  a.height (tau + b.spread) - b.height (tau + a.spread) > 0. Asking for a lead
// of kDoubt times the first term leaves no room for rounding, here or in score(): kDoubt
// is 8 units in the last place, and about 5 roundings are involved. Lines closer than
// that give a time that has passed, and are compared again at every step; lines that
// are the same never part.
inline float stronger_until(const ScoreLine& a, const ScoreLine& b, double tau) {
  constexpr float kForever = std::numeric_limits<float>::infinity();
  if (a.height == b.height && a.spread == b.spread) return kForever;
  const double lead = a.height * b.spread - b.height * a.spread - kDoubt * (a.height * b.spread);
  const double loss = b.height - a.height + kDoubt * a.height;
  if (lead - tau * loss <= 0.0) return 0.0F;
  return loss <= 0.0 ? kForever : rounded_down(lead / loss);
}

}  // namespace fsstream

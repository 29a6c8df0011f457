// Steps that cannot overshoot: how far a row's own loss pulls its prediction.
//
// A step along the row's gradient moves the prediction u; instead of taking one straight
// step of length a, the loss is followed downhill for the time a (Karampatziakis and
// Langford, "Online Importance Weight Aware Updates", 2011): du/da = -loss'(u, y). A row of
// importance h is the same row h times in a row, and the prediction never crosses the target.
//
//   logistic        m + e^m grows by a                 (m = y u)
//   hinge           m grows by a, up to 1
//   squared-hinge   1 - m shrinks by e^-2a
//   squared         y - u shrinks by e^-2a
#pragma once

#include <algorithm>
#include <cmath>

#include "learn/loss.hpp"

namespace fsstream {

// The M with M + e^M = c, by Newton's method from `m`, which must not be below it: convex, so
// every step ends above M again, nearer by a square.
inline double solve_margin(double c, double m) {
  for (int i = 0; i < 8; ++i) {
    const double e = exp(m);
    const double step = (m + e - c) / (1.0 + e);
    m -= step;
    if (std::fabs(step) <= 1e-7 * (1.0 + std::fabs(m))) break;
  }
  return m;
}

// Change of the prediction u after following the loss for the time a > 0.
inline double flow(const Loss& loss, double u, double y, double a) {
  const double m = y * u;
  switch (loss.kind()) {
    case Loss::Kind::kLogistic: {
      // Far beyond the decision the slope hardly changes along the way.
      if (m > 30.0 || a < 1e-6) return -a * loss.slope(u, y);
      const double e = exp(m);
      const double c = m + e + a;
      const double straight = m + a / (1.0 + e);  // the slope falls along the way
      return y * (solve_margin(c, c > 1.0 ? std::min(straight, log(c)) : straight) - m);
    }
    case Loss::Kind::kHinge:
      return m < 1.0 ? y * std::min(1.0 - m, a) : 0.0;
    case Loss::Kind::kSquaredHinge:
      return m < 1.0 ? y * (1.0 - m) * (a < 1e-6 ? 2.0 * a : 1.0 - exp(-2.0 * a)) : 0.0;
    default:
      return (y - u) * (a < 1e-6 ? 2.0 * a : 1.0 - exp(-2.0 * a));
  }
}

// Curvature of the loss in u; for the hinge, which has none, that of the logistic loss.
inline double curvature(const Loss& loss, double u, double y) {
  if (loss.kind() == Loss::Kind::kSquared) return 2.0;
  if (loss.kind() == Loss::Kind::kSquaredHinge) return y * u < 1.0 ? 2.0 : 0.0;
  const double s = 1.0 / (1.0 + exp(-std::fabs(u)));
  return s * (1.0 - s);
}

}  // namespace fsstream

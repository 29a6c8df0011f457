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

// The M with M + e^M = c by Halley's method from `m`, which must not be below it: each step leaves a
// twelfth of the cube of its length.
inline double solve_margin(double c, double m) {
  for (int i = 0; i < 8; ++i) {
    const double e = exp(m);
    const double over = m + e - c;
    const double slope = 1.0 + e;
    const double step = 2.0 * over * slope / (2.0 * slope * slope - over * e);
    m -= step;
    if (std::fabs(step * step * step) <= 1e-8 * (1.0 + std::fabs(m))) break;
  }
  return m;
}

// All that a step asks of a row's loss, at its prediction u: one exponential serves them.
class RowLoss {
 public:
  RowLoss(const Loss& loss, double u, double y) : kind_(loss.kind()), u_(u), y_(y), m_(y * u), at_(loss.at(u, y)) {}

  double value() const { return at_.value; }
  double slope() const { return at_.slope; }

  // Second derivative in u; for the hinge, which has none, that of the logistic loss.
  double curvature() const {
    switch (kind_) {
      case Loss::Kind::kSquared:
        return 2.0;
      case Loss::Kind::kSquaredHinge:
        return m_ < 1.0 ? 2.0 : 0.0;
      default:
        const double e = kind_ == Loss::Kind::kLogistic ? at_.tail : exp(-std::fabs(m_));
        return e / ((1.0 + e) * (1.0 + e));
    }
  }

  // Change of the prediction after following the loss for the time a > 0.
  double flow(double a) const {
    switch (kind_) {
      case Loss::Kind::kLogistic:
        // Far beyond the decision the slope hardly changes along the way.
        return m_ > 30.0 || a < 1e-6 ? -a * at_.slope : y_ * (margin_after(a) - m_);
      case Loss::Kind::kHinge:
        return m_ < 1.0 ? y_ * std::min(1.0 - m_, a) : 0.0;
      case Loss::Kind::kSquaredHinge:
        return m_ < 1.0 ? y_ * (1.0 - m_) * shrunk_by(a) : 0.0;
      default:
        return (y_ - u_) * shrunk_by(a);
    }
  }

 private:
  double margin_after(double a) const {
    const double e = m_ > 0.0 ? 1.0 / at_.tail : at_.tail;
    const double c = m_ + e + a;
    const double straight = m_ + a / (1.0 + e);  // the slope falls along the way
    return solve_margin(c, a > 1.0 + e && c > 1.0 ? std::min(straight, log(c)) : straight);
  }
  static double shrunk_by(double a) { return a < 1e-6 ? 2.0 * a : 1.0 - exp(-2.0 * a); }

  Loss::Kind kind_;
  double u_;
  double y_;
  double m_;
  Loss::Point at_;
};

}  // namespace fsstream

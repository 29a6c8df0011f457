// Losses of a prediction u for a target y; for classes y is -1 or +1 and m = y u.
//
//   logistic        log(1 + e^-m)        slope in u  -y / (1 + e^m)
//   hinge           max(0, 1 - m)                    -y if m < 1
//   squared-hinge   max(0, 1 - m)^2                  -2 y max(0, 1 - m)
//   squared         (y - u)^2                        -2 (y - u)
//
// The forms of the MISSION paper; backends with other factors state theirs. A loss is
// evaluated once a row, so it is a value, not a template argument.
#pragma once

#include <stdexcept>
#include <string>

#include "core/math.hpp"

namespace fsstream {

class Loss {
 public:
  enum class Kind { kLogistic, kHinge, kSquaredHinge, kSquared };

  explicit Loss(Kind kind) : kind_(kind) {}
  explicit Loss(const std::string& name) : kind_(kind_of(name)) {}

  Kind kind() const { return kind_; }
  bool bounded_slope() const { return kind_ == Kind::kLogistic || kind_ == Kind::kHinge; }

  struct Point {
    double value;
    double slope;
    double tail = 0.0;  // e^-|m|, of the logistic loss
  };

  Point at(double u, double y) const {
    const double m = y * u;
    const double short_of = m < 1.0 ? 1.0 - m : 0.0;
    switch (kind_) {
      case Kind::kLogistic: {
        const double e = exp(m > 0.0 ? -m : m);  // one exponential for both
        const double wrong = (m > 0.0 ? e : 1.0) / (1.0 + e);
        return {log1p(e) + (m > 0.0 ? 0.0 : -m), -y * wrong, e};
      }
      case Kind::kHinge:
        return {short_of, m < 1.0 ? -y : 0.0};
      case Kind::kSquaredHinge:
        return {short_of * short_of, -2.0 * y * short_of};
      default:
        return {(y - u) * (y - u), -2.0 * (y - u)};
    }
  }

  double value(double u, double y) const { return at(u, y).value; }
  double slope(double u, double y) const { return at(u, y).slope; }

 private:
  static Kind kind_of(const std::string& name) {
    if (name == "logistic") return Kind::kLogistic;
    if (name == "hinge") return Kind::kHinge;
    if (name == "squared-hinge") return Kind::kSquaredHinge;
    if (name == "squared") return Kind::kSquared;
    throw std::invalid_argument("no such loss: " + name);
  }

  Kind kind_;
};

}  // namespace fsstream

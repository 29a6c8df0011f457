// Losses over columns: l(u, y), u the prediction of a row.
//
//   squared         l = (u - y)^2 / 2            slope u - y                    curvature 1
//   squared-hinge   l = h max(0, 1 - y u)^2 / 2        -y h max(0, 1 - y u)               h if y u < 1
//   logistic        l = log(1 + e^-yu)                 -y / (1 + e^yu)                    p (1 - p)
//
// The online substitution paper's (2) and (3) have h = 1, and curvature never exceeds 1 (logistic: 1/4);
// the random features paper has h = 2.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "core/math.hpp"

namespace fsstream {

class ColumnLoss {
 public:
  explicit ColumnLoss(std::string_view name, double hinge = 1.0) : kind_(kind_of(name)), hinge_(hinge) {}

  bool quadratic() const { return kind_ == Kind::kSquared; }
  double largest_curvature() const {
    return kind_ == Kind::kLogistic ? 0.25 : kind_ == Kind::kSquaredHinge ? hinge_ : 1.0;
  }

  double value(double u, double y) const {
    if (kind_ == Kind::kSquared) return 0.5 * (u - y) * (u - y);
    const double m = y * u;
    if (kind_ == Kind::kSquaredHinge) return m < 1.0 ? hinge_ * 0.5 * (1.0 - m) * (1.0 - m) : 0.0;
    return m > 0.0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
  }

  double slope(double u, double y) const {
    if (kind_ == Kind::kSquared) return u - y;
    const double m = y * u;
    if (kind_ == Kind::kSquaredHinge) return m < 1.0 ? -y * hinge_ * (1.0 - m) : 0.0;
    return -y / (1.0 + exp(m));
  }

  double curvature(double u, double y) const {
    if (kind_ == Kind::kSquared) return 1.0;
    const double m = y * u;
    if (kind_ == Kind::kSquaredHinge) return m < 1.0 ? hinge_ : 0.0;
    const double p = 1.0 / (1.0 + exp(-m));
    return p * (1.0 - p);
  }

  // -L* of a slope s, the loss's part in the dual; a = -y s for the two-class losses.
  double conjugate(double s, double y) const {
    if (kind_ == Kind::kSquared) return -(0.5 * s * s + s * y);
    const double a = -y * s;
    if (kind_ == Kind::kSquaredHinge) return a - 0.5 / hinge_ * a * a;
    const double left = 1.0 - a;
    return (a > 0.0 ? -a * log(a) : 0.0) + (left > 0.0 ? -left * log(left) : 0.0);
  }

  // Mean of the losses, in input order.
  double mean(const double* u, const double* y, std::size_t n) const {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += value(u[i], y[i]);
    return sum / static_cast<double>(n);
  }

 private:
  enum class Kind { kSquared, kSquaredHinge, kLogistic };
  static Kind kind_of(std::string_view name) {
    if (name == "squared") return Kind::kSquared;
    if (name == "squared-hinge") return Kind::kSquaredHinge;
    if (name == "logistic") return Kind::kLogistic;
    throw std::invalid_argument("columns know squared, squared-hinge and logistic loss");
  }

  Kind kind_;
  double hinge_;
};

}  // namespace fsstream

// P(u): the loss of all rows at their decision values u_i, and its slopes.
//
//   squared hinge  P = sum c_i / 2 max(0, 1 - y_i u_i)^2      r_i = c_i y_i max(0, 1 - y_i u_i)
//   logistic       P = sum c_i log(1 + exp(-y_i u_i))         r_i = c_i y_i / (1 + exp(y_i u_i))
//   squared        P = sum c_i / 2 (y_i - u_i)^2              r_i = c_i (y_i - u_i)
//
// c_i is C times the importance of the row; r_i = -dP/du_i, which is alpha_i y_i of the paper.
#pragma once

#include <span>

namespace fsstream {

enum class FgmLoss { kSquaredHinge, kLogistic, kSquared };

class EmpiricalLoss {
 public:
  EmpiricalLoss(FgmLoss loss, std::span<const double> targets, std::span<const double> costs)
      : loss_(loss), targets_(targets), costs_(costs) {}

  std::size_t rows() const { return targets_.size(); }
  std::span<const double> costs() const { return costs_; }
  // Upper bound of the second derivative by c_i.
  double curvature() const { return loss_ == FgmLoss::kLogistic ? 0.25 : 1.0; }

  double value(std::span<const double> u) const;
  // Writes r; returns the sum of r, which is dP/db because u = Xw - b.
  double residuals(std::span<const double> u, std::span<double> r) const;
  // The part of the dual objective f(alpha, d) that does not depend on d.
  double conjugate(std::span<const double> r) const;

 private:
  FgmLoss loss_;
  std::span<const double> targets_;
  std::span<const double> costs_;
};

}  // namespace fsstream

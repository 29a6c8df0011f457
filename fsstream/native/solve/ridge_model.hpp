// RidgeModel: the inverse of the loss's second-order model with a ridge, near enough to precondition.
//
//   v becomes (Phi' D Phi + l2)^-1 v,   D of a few rows (curved_rows.hpp), columns centred for b
//
// With several rows a column the true second order is within a small factor of this one in every
// direction, so conjugate gradients end after a few passes over the columns instead of hundreds.
#pragma once

#include <span>

#include "solve/gram.hpp"

namespace fsstream {

class RidgeModel {
 public:
  void build(std::span<const float* const> columns, std::span<const double> curvatures, double l2, bool intercept,
             std::size_t threads);
  void apply(std::span<double> v) const;
  bool built() const { return gram_.size() > 0; }
  void forget() { gram_ = Gram(); }

 private:
  Gram gram_;
};

}  // namespace fsstream

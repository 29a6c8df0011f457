// QuadraticModel: the loss around a point, to second order, over the columns that may move.
//
//   minimise over d   g.d + 1/2 d'H d + l1 |w + d|_1 + l2/2 |w + d|^2,   H = Phi' D Phi, b at its best
//
// D is the curvature of each row; H is made of a sample of the rows (curved_rows.hpp). g is exact.
// Coordinate descent over H costs a pass over one row of it for each weight that moves, so it may
// run until next to nothing is gained. A model is made once for several steps: where the curvature has
// changed, H is taken to have the same shape and another size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/curved_rows.hpp"
#include "solve/gram.hpp"

namespace fsstream {

class QuadraticModel {
 public:
  // Of the columns with these numbers, from so many rows for each, about, when there are more with a curvature.
  void build(std::span<const std::uint32_t> members, std::span<const float* const> columns,
             std::span<const double> curvatures, std::size_t rows_a_column, bool intercept, std::size_t threads);
  // Another step with the same products.
  void use_again(std::span<const double> curvatures);
  void forget() { members_.clear(); }
  // Whether its last step was not its first.
  bool reused() const { return reused_; }
  std::span<const std::uint32_t> members() const { return members_; }
  // Steps of the weights, from the gradients of the loss there.
  std::vector<double> minimise(std::span<const double> gradients, std::span<const double> weights, double l1,
                               double l2) const;
  // The step of b that goes with them; slope_sum: of the loss in b.
  double bias_step(std::span<const double> steps, double slope_sum) const;
  bool sampled() const { return rows_.sampled(); }

 private:
  Gram gram_;
  CurvedRows rows_;
  std::vector<std::uint32_t> members_;
  double total_ = 0;  // of the curvatures, now
  bool reused_ = false;
};

}  // namespace fsstream

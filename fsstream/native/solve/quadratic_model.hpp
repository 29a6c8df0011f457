// QuadraticModel: the loss around a point, to second order, over the columns that may move.
//
//   minimise over d   g.d + 1/2 d'H d + l1 |w + d|_1 + l2/2 |w + d|^2,   H = Phi' D Phi, b at its best
//
// D is the curvature of each row. Few rows have most of it (none of a row that is well on its side
// has any, with the squared hinge), and a sample of those will do for H, as long as it is several
// times as many as columns: H is made of these rows only, raised to the whole curvature. g is exact.
// Coordinate descent over H costs a pass over one row of it for each weight that moves, so it may
// run until next to nothing is gained.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/gram.hpp"

namespace fsstream {

class QuadraticModel {
 public:
  static constexpr std::size_t kRowBytes = sizeof(std::uint32_t) + sizeof(double) + sizeof(float);
  // From so many rows for each column, about, when there are more with a curvature.
  void build(std::span<const float* const> columns, std::span<const double> curvatures, std::size_t rows_a_column,
             bool intercept);
  // Steps of the weights, from the gradients of the loss there.
  std::vector<double> minimise(std::span<const double> gradients, std::span<const double> weights, double l1,
                               double l2) const;
  // The step of b that goes with them; slope_sum: of the loss in b.
  double bias_step(std::span<const double> steps, double slope_sum) const;
  // Whether rows with a curvature were left out beyond the few flattest.
  bool sampled() const { return sampled_; }

 private:
  void choose_rows(std::span<const double> curvatures, std::size_t most);

  Gram gram_;
  std::vector<std::uint32_t> rows_;
  std::vector<double> factors_;
  double total_ = 0;  // of the curvatures
  bool sampled_ = false;
};

}  // namespace fsstream

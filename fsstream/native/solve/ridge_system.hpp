// A Newton step of a loss with a ridge, by conjugate gradients over all rows.
//
//   (Phi' D Phi + l2) step = residual,   b at its best for each step; preconditioned (ridge_model.hpp)
#pragma once

#include <span>
#include <vector>

#include "solve/ridge_model.hpp"

namespace fsstream {

struct RidgeSystem {
  std::vector<const float*> columns;
  std::span<const double> curvatures;  // D, one a row
  double l2;
  bool intercept;
  std::size_t threads;

  // Adds the solution to `weights` and `bias`; how many passes over the columns it took. `inverse` is built if
  // need be, and forgotten once it has become a poor one.
  std::size_t solve(std::vector<double> residual, RidgeModel& inverse, std::span<double> weights, double& bias) const;

 private:
  double best_bias(std::span<const double> along, double curvature_sum) const;
};

}  // namespace fsstream

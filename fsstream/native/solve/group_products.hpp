// Products X w of the inner solver, kept by group (section 5.5) or summed from the columns.
//
// Kept by group, a trial of the line search is a combination of t vectors:
//   X w' = sum over h of factor_h (X_h v_h - X_h g_h / tau)
// and the next point needs no product at all: X v = X w' + beta (X w' - X w), which holds for
// the sum over groups as well. Three vectors of n numbers a group: `now` holds X_h w_h, `point`
// X_h v_h, `slope` X_h g_h. Without them `total` and `step` hold X w and X w'.
#pragma once

#include <span>
#include <vector>

#include "solve/column_cache.hpp"

namespace fsstream {

struct ReducedSolution;

class GroupProducts {
 public:
  GroupProducts(const ColumnCache& columns, const ReducedSolution& solution, bool allowed);

  // Sets v = w; u = X w.
  void at_weights(std::vector<double>& u);
  // Takes in the gradient at v.
  void at_gradient(std::span<const double> gradient);
  // u = X w' where w' are the projected weights of this trial.
  void at_step(std::span<const double> factors, double tau, std::span<const double> step, std::vector<double>& u);
  // The last trial became w; u = X v for v = w + beta (w - w_before).
  void advance(double beta, std::vector<double>& u);

 private:
  void sum_columns(std::span<const double> weights, std::vector<double>& u) const;
  void product(std::size_t group, std::span<const double> weights, std::span<double> out) const;
  std::span<double> part(std::vector<double>& all, std::size_t group) const {
    return std::span<double>(all).subspan(group * rows_, rows_);
  }

  const ColumnCache& columns_;
  const ReducedSolution& solution_;
  std::size_t rows_;
  bool cached_;
  double tau_ = 1.0;
  std::vector<double> factors_;
  std::vector<double> now_, point_, slope_;
  std::vector<double> total_, step_;
};

}  // namespace fsstream

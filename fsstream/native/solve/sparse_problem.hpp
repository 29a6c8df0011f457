// The problem over the random features at hand (equation (9) of the paper), and its solver.
//
//   minimise over w, b   F = 1/N sum c_i L(u_i, y_i) + l1 |w|_1 + l2/2 |w|^2,   u = Phi w + b
//
//   squared 1/2 (u - y)^2     squared hinge max(0, 1 - y u)^2     logistic log(1 + exp(-y u))
//
// c_i is the importance of a row, N their sum; b is not penalised. Columns are dense floats.
//
// Solver: at u the loss is replaced by its second-order model, whose minimum over the columns that
// may move is found by coordinate descent over the products of these columns (quadratic_model.hpp);
// a line search along the step makes F fall (Yuan, Ho, Lin: newGLMNET, JMLR 2012; exact in one step
// for the squared loss). Warm: it starts at the weights.
//   shrinking   a step begins with every column's gradient; only columns with a weight, and the
//               steepest ones with |g| near l1 or above, may move. From w = 0 the first steps are taken with
//               larger l1 weights, down to the one asked for: no crowd of columns enters.
//   end         the duality gap is below what is asked: s = dL/du, made to sum to zero and scaled
//               so that |Phi_j.s| <= l1, is dual feasible (with l2 no scaling is needed).
//   precision   the model is in float, gradients and gap in double: it only has to point the way.
//   model       serves several steps on the same columns: while the gap shrinks well, and full steps hold.
// With l1 = 0 the model is minimised by conjugate gradients instead, over all rows and preconditioned by a
// factored model of some (ridge_system.hpp): no coordinate is ever zero.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/buffer.hpp"
#include "core/feature_map.hpp"
#include "solve/column_loss.hpp"
#include "solve/quadratic_model.hpp"

namespace fsstream {

struct SolveOptions {
  double l1 = 0;
  double l2 = 0;
  double tolerance = 1e-3;   // of the gap, as a share of F at w = 0, b at its best
  std::size_t steps = 1000;  // at most: Newton's, or with l1 = 0 those of conjugate gradients
  bool bound = true;         // find the gap even where the steps are used up: a pass over the columns
};

struct SolveReport {
  double objective = 0;
  double loss = 0;
  double gap = 0;
  std::size_t steps = 0;
};

class SparseProblem {
 public:
  SparseProblem(std::string_view loss, std::span<const float> targets, std::span<const float> importance,
                bool intercept, std::size_t threads = 1);
  SparseProblem(const SparseProblem&) = delete;
  SparseProblem& operator=(const SparseProblem&) = delete;

  std::size_t rows() const { return targets_.size(); }
  std::size_t threads() const { return threads_; }
  std::size_t columns() const { return columns_.size(); }
  std::span<const double> weights() const { return weights_; }
  double intercept() const { return bias_; }
  std::span<const double> decision() const { return decision_; }
  std::span<const float> column(std::size_t j) const { return {columns_[j].data(), rows()}; }
  // So many bytes for so many columns, everything included.
  static std::size_t bytes_for(std::size_t rows, std::size_t columns);

  // Other targets over the same columns; all weights are 0 again.
  void retarget(std::span<const float> targets, std::span<const float> importance);
  // Room for further columns at weight 0, to be filled.
  std::vector<float*> open(std::size_t count);
  // The weights of all columns; the decision values are summed anew.
  void start_from(std::span<const double> weights, double intercept);
  // Keeps these columns, in this order, with their weights; those let go leave the decision.
  void keep(std::span<const std::uint32_t> columns);

  SolveReport solve(const SolveOptions& options);
  // Slope of the loss in each weight, b at its best when all weights are as they are.
  std::vector<double> gradients();
  // c_i / N dL/du_i.
  std::vector<double> slopes() const;
  // c_i / N d2L/du_i2.
  std::vector<double> curvatures() const;
  // F with l1 = l2 = 0.
  double loss() const { return loss_at(decision_); }

 private:
  struct Step;

  void fit_intercept();  // moves b to its best
  double loss_at(std::span<const double> u) const;
  double penalty(std::span<const double> w, const SolveOptions& options) const;
  void take_slopes();
  void make_feasible(std::vector<double>& dual) const;
  double dual_value(const std::vector<double>& dual, const SolveOptions& options, double share) const;
  double find_gap(double objective, const SolveOptions& options);
  double steepest() const;
  std::vector<std::uint32_t> columns_that_move(double l1) const;
  void build_model(std::vector<std::uint32_t> moving);
  void take_newton_step(const SolveOptions& options, Step& step);
  std::vector<const float*> column_data() const;
  std::vector<double> products_with(std::span<const double> v) const;
  double search_line(const SolveOptions& options, Step& step);

  ColumnLoss loss_;
  bool fits_intercept_;
  std::size_t threads_;                  // speed only
  std::vector<double> targets_, costs_;  // cost: importance / N
  std::vector<double> decision_, slopes_, curvatures_, gradients_;
  std::vector<Buffer<float>> columns_;
  std::vector<Buffer<float>> spare_;
  std::vector<double> weights_;
  QuadraticModel model_;
  std::size_t rows_a_column_ = 0;
  double bias_ = 0;
  double level_ = 0;  // F at w = 0, b at its best
};

}  // namespace fsstream

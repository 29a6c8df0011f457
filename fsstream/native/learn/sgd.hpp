// Sgd: stochastic gradient descent on a linear prediction, over any store of weights.
//
// Objective  sum_t h_t loss(b + w.x_t, y_t) + (l2 / 2) |w|^2 a row; the intercept b is free.
// Row t      u = b + sum over active i of w_i x_i
//            w <- (1 - rate l2) w - rate h_t loss'(u, y) x_t
//            b <- b - rate h_t loss'(u, y) q,   q = mean square of all entries so far
//            what is not among the top k is multiplied by gamma, all of w by forget;
//            1 - gamma doubles every gamma_doubling rows
//
// The intercept is thus one more feature, of the size of a typical one. With the value 1 a
// constant step would throw it about: in unit-length rows it alone would weigh as much as
// all of a row's features together (accuracy .755 instead of .790 at the same AUC on the
// first 300,000 rows of the bench stream).
//
// A step that nobody chose may be bounded: where slopes grow with the error it goes half of the way to a
// row's target at most, rate h_t (|x_t|^2 + q) <= 1/4, so that rows of any length can be learned.
//
// With a count-sketch as the store this is Algorithm 1 of MISSION (Aghazadeh et al., ICML
// 2018); with a dense hashed table it is feature hashing. The state after a row depends on
// the rows and their order alone, never on how they came in batches.
#pragma once

#include <cstdint>
#include <memory>

#include "learn/loss.hpp"
#include "learn/row_losses.hpp"
#include "learn/weights.hpp"

namespace fsstream {

struct SgdOptions {
  double learning_rate = 0.5;
  double l2 = 0.0;
  double gamma = 1.0;
  double forget = 1.0;  // all weights fade by it, once a row
  bool intercept = true;
  std::size_t memory = ~std::size_t{0};  // bytes the weights may take
  double gamma_doubling = 0.0;           // rows; 0: gamma stays
  bool slowing = false;                  // row t steps by rate / (1 + rate l2 t)
  bool bounded = false;                  // see above
};

class Sgd {
 public:
  Sgd(Loss loss, const SgdOptions& options, std::unique_ptr<Weights> weights);

  // Learns the rows in order; scores[r] is what row r would have been given before it was learned.
  void update(const Batch& batch, float* scores);
  void allow(std::size_t memory) { options_.memory = memory; }
  void bound_steps() { options_.bounded = true; }

  // Scores only; nothing is learned and no name noted.
  void predict(const Batch& batch, float* scores);

  Weights& weights() { return *weights_; }
  const Weights& weights() const { return *weights_; }
  double intercept() const { return intercept_; }
  void set_intercept(double intercept) { intercept_ = intercept; }
  std::uint64_t rows() const { return rows_; }
  // Progressive loss since the last call, weighted by importance; and the weight it was summed over.
  std::pair<double, double> take_progress() { return progress_.take(); }
  void end_pass() { weights_->end_pass(); }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  // Calls row_done(row number, Row) for all rows, hashed run by run.
  template <class Visit>
  void for_each_row(const Batch& batch, Visit visit);
  double rate() const {
    const double rate = options_.learning_rate;
    return options_.slowing ? rate / (1.0 + rate * options_.l2 * static_cast<double>(rows_)) : rate;
  }
  double gamma() const;
  double learn(const Row& row, double target, double importance);
  void watch(double score, double target);
  double typical_square(const Row& row, double square);
  double step(double importance, double square, double typical) const;

  Loss loss_;
  SgdOptions options_;
  std::unique_ptr<Weights> weights_;
  double intercept_ = 0.0;
  std::uint64_t rows_ = 0;
  ProgressiveLoss progress_;
  double largest_target_ = 1.0;
  double squares_ = 0.0;  // of all entries so far
  double entries_ = 0.0;
};

}  // namespace fsstream

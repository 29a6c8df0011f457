// Bear: online L-BFGS on a linear prediction whose weights lie in a count-sketch.
//
// Objective  (1 / |B|) sum over a mini-batch B of h loss(b + w.x, y) + (l2 / 2) |w|^2
// Batch      A = features of B;  w = the active weights among A, else 0;  g = gradient there, on A
//            z = two-loop recursion on g with the last pairs (s, r), each restricted to A
//            sketch and active weights += -learning_rate z, then features enter and leave
//            w', g' the same way with the rows of the same batch;  s = w' - w, r = g' - g + damping q s
//            the pair is kept if s.r > 0, the oldest one leaves;  q = mean square of all entries so far
//
// Aghazadeh, Gupta, DeWeese, Koyluoglu, Ramchandran: "BEAR: Sketching BFGS Algorithm for
// Ultra-High Dimensional Feature Selection in Sublinear Memory". Departures: active weights are kept
// beside the sketch (learn/remembering_weights.hpp), a pair takes part only where s.r > 0 on A,
// and the intercept, which the paper has not, takes plain gradient steps as in learn/sgd.hpp. The
// damping is that of online L-BFGS (Schraudolph, Yu, Guenter, 2007): where a loss is flat its
// gradient hardly changes, and an undamped pair makes steps without bound.
#pragma once

#include <vector>

#include "learn/gradient_row.hpp"
#include "learn/loss.hpp"
#include "learn/remembering_weights.hpp"
#include "learn/row_losses.hpp"

namespace fsstream {

struct BearOptions {
  std::size_t k = 1;
  std::size_t memory_pairs = 5;
  std::size_t batch = 32;
  double damping = 0.1;
  double learning_rate = 0.5;
  double l2 = 0.0;
  bool intercept = true;
  std::size_t memory = ~std::size_t{0};
};

class Bear {
 public:
  Bear(Loss loss, const BearOptions& options, CountSketch sketch);

  // Learns the rows in order; scores[r] is what row r would have been given before its batch was learned.
  void update(const Batch& batch, float* scores);
  // A step for the rows that wait for the rest of their batch.
  void end_pass();

  Weights& weights() { return weights_; }
  const Weights& weights() const { return weights_; }
  double intercept() const { return intercept_; }
  void set_intercept(double intercept) { intercept_ = intercept; }
  std::uint64_t rows() const { return rows_; }
  std::size_t pairs() const { return pairs_.size(); }
  std::pair<double, double> take_progress() { return progress_.take(); }
  std::size_t bytes() const;
  void allow(std::size_t memory) { options_.memory = memory; }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  // How weights moved and how the gradient changed with them.
  struct Change {
    Key key;
    double s;
    double r;
  };
  using Pair = std::vector<Change>;
  // The part of a pair that lies in A: slots of the batch's features instead of keys.
  struct Restricted {
    std::vector<std::pair<Slot, const Change*>> changes;
    double rho;  // 1 / s.r
    double alpha;
  };

  void step();
  double typical_square() const { return squares_ > 0.0 ? squares_ / entries_ : 1.0; }
  double find_gradient(std::vector<double>& gradient, std::vector<double>& weights);
  void precondition(std::vector<double>& direction);
  std::vector<Restricted> restricted_pairs() const;
  void keep_pair(const std::vector<double>& weights, const std::vector<double>& gradient);

  Loss loss_;
  BearOptions options_;
  RememberingWeights<CountSketch> weights_;
  std::vector<Pair> pairs_;  // oldest first
  double intercept_ = 0.0;
  std::uint64_t rows_ = 0;
  ProgressiveLoss progress_;
  double largest_target_ = 1.0;
  double squares_ = 0.0;  // of all entries so far
  double entries_ = 0.0;
  Batch waiting_;
  GradientRow sum_;  // over the rows that wait
};

}  // namespace fsstream

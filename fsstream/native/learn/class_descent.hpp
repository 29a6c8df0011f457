// ClassDescent: stochastic gradient descent on the softmax loss, over any store of weights, one
// store a class. What Sgd is for one output; classes may appear late.
//
// Row t      u_c = b_c + w_c.x;  p = softmax(u)
//            w_c <- (1 - rate l2) w_c + rate h ([c = y] - p_c) x
//            b_c <- b_c + rate h ([c = y] - p_c) q,   q = mean square of all entries so far
//
// Weights that lie side by side in one sketch are faster (learn/softmax_learner.hpp); this is for
// stores of other kinds.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "learn/row_losses.hpp"
#include "learn/sgd.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class ClassDescent {
 public:
  using MakeWeights = std::function<std::unique_ptr<Weights>()>;
  ClassDescent(const SgdOptions& options, MakeWeights make, std::size_t classes);

  ClassDescent(const ClassDescent&) = delete;
  ClassDescent& operator=(const ClassDescent&) = delete;

  std::size_t classes() const { return weights_.size(); }
  std::size_t classes_with(const Batch& batch) const;
  // Scores are rows x classes_with(batch), of each row before it was learned; -infinity for a
  // class that was not met by then.
  void update(const Batch& batch, float* scores);

  void meet_classes(std::size_t classes);
  Weights& weights(std::size_t c) { return *weights_[c]; }
  const Weights& weights(std::size_t c) const { return *weights_[c]; }
  const std::vector<double>& intercepts() const { return intercepts_; }
  void set_intercept(std::size_t c, double intercept) { intercepts_[c] = intercept; }
  std::uint64_t rows() const { return rows_; }
  std::size_t bytes() const;
  std::pair<double, double> take_progress() { return progress_.take(); }
  void end_pass();

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  void check_memory() const;
  void learn(const Row& row, std::size_t y, double h, float* scores);

  SgdOptions options_;
  MakeWeights make_;
  std::vector<std::unique_ptr<Weights>> weights_;
  std::vector<double> intercepts_;
  std::vector<double> chances_;
  ProgressiveLoss progress_;
  double squares_ = 0.0;
  double entries_ = 0.0;
  std::uint64_t rows_ = 0;
};

}  // namespace fsstream

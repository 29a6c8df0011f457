// OFS: online feature selection by truncated sub-gradient descent.
//
// Wang, Zhao, Hoi, Jin, "Online Feature Selection and Its Applications" (2014); hinge loss:
//
//   where y w.x <= 1:  w <- (1 - lambda eta) w + eta y x
//                      w <- w min(1, 1 / (sqrt(lambda) |w|_2))
//                      the B largest |w_i| stay, ties by the smaller key
//   elsewhere:         w <- (1 - lambda eta) w
//
// Nothing is remembered of features without a weight. Weights are kept as scale * v, so that
// shrinking and projecting cost O(1); |v|^2 is kept beside them and summed anew now and then.
// An intercept, on request, takes the gradient step alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "learn/loss.hpp"
#include "learn/online_learner.hpp"
#include "learn/rate.hpp"
#include "learn/seated_weights.hpp"

namespace fsstream {

class Ofs final : public OnlineLearner {
 public:
  Ofs(Loss loss, const BudgetedOptions& options);

  void update(const Batch& batch, float* scores) override;
  std::vector<Chosen> chosen() const override { return seats_.chosen(); }
  double intercept() const override { return bias_; }
  std::size_t features() const override { return seats_.size(); }
  std::size_t bytes() const override { return seats_.bytes_with(seats_.size()); }
  std::uint64_t collisions() const override { return seats_.collisions(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  void reserve(const Batch& batch, std::size_t entries);
  double predict(const Batch& batch, std::size_t row);
  double slope_at(double u, double y) const;
  void shrink();
  void descend(const Batch& batch, double slope);
  void project();
  void offer(const Batch& batch, std::size_t j, double v);
  void fold_scale();

  Loss loss_;
  BudgetedOptions options_;
  Rate rate_;
  std::uint64_t steps_ = 0;
  double bias_ = 0.0;
  double square_ = 0.0;  // |v|^2
  SeatedWeights seats_;
};

}  // namespace fsstream

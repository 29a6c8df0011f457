// SOFS: second-order online feature selection.
//
// Wu, Hoi, Mei, Yu, "Large-Scale Online Feature Selection for Ultra-High Dimensional Sparse
// Data" (2017): AROW with a diagonal covariance Sigma, 1 at the start, kept for every feature
// seen. Where m = max(0, 1 - y mu.x) > 0:
//
//   beta = 1 / (sum of Sigma_i x_i^2 + gamma)
//   mu_i += m beta y Sigma_i x_i,   1 / Sigma_i += x_i^2 / gamma
//   the B features with the smallest Sigma_i keep a weight, ties by the smaller key
//
// Sigma only falls, and only where it is touched. So a feature outside the budget that is not
// in the row never has a smaller one than a member: what left was the largest, and members
// only fall. The row's features are the only candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "learn/budget_set.hpp"
#include "learn/feature_table.hpp"
#include "learn/online_learner.hpp"
#include "learn/slot_names.hpp"

namespace fsstream {

class Sofs final : public OnlineLearner {
 public:
  Sofs(double gamma, const BudgetedOptions& options);

  void update(const Batch& batch, float* scores) override;
  std::vector<Chosen> chosen() const override;
  double intercept() const override { return bias_; }
  std::size_t features() const override { return table_.size(); }
  std::size_t bytes() const override { return bytes_with(table_.size()); }
  std::uint64_t collisions() const override { return names_.collisions(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  struct Seen {
    Key key = 0;
    double precision = 1.0;  // 1 / Sigma
    Slot seat = kNobody;
  };

  std::size_t bytes_with(std::size_t features) const;
  void reserve(const Batch& batch, std::size_t entries);
  double predict(const Batch& batch, std::size_t row);
  double step_size(const Batch& batch, std::size_t row, double pull, double gamma);
  void learn(const Batch& batch, std::size_t row, double pull, double gamma);
  void offer(Slot slot, double weight);

  double gamma_;
  BudgetedOptions options_;
  double bias_ = 0.0;
  double bias_precision_ = 1.0;
  FeatureTable<Seen> table_;
  BudgetSet set_;
  SlotNames names_;
  std::vector<Slot> slots_;  // of each seat
  std::vector<Slot> found_;  // slots of the row's entries
  struct Candidate {
    Slot slot;
    double weight;
  };
  std::vector<Candidate> others_;  // of the row
};

}  // namespace fsstream

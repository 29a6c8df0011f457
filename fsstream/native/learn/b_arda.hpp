// B-ARDA: budgeted adaptive regularised dual averaging.
//
//   minimise  sum over t of  f(w_t . x_t, y_t) + lambda/2 |w_t|^2,   |w_t|_0 <= B
//
// "Online Feature Selection by Adaptive Sub-gradient Methods", Algorithm 1:
//
//   G += g_t,  H = delta + sqrt(sum of g_t^2)                g_t: the loss's sub-gradient alone
//   z  = -eta G / (lambda eta t + H)                         all features
//   w  = z on the B features with the largest H z^2, 0 elsewhere
//
// Departures: none in the result. Features are touched when they occur; what time alone does
// to the others is left to BudgetOrder. On request an intercept is learned by the same rule,
// outside the budget and not shrunk. Importance multiplies the sub-gradient.
//
// The state is kept for every feature seen (store = exact), in a table that ends with
// LimitExceeded when it would pass `memory`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "learn/budget_order.hpp"
#include "learn/feature_table.hpp"
#include "learn/loss.hpp"
#include "learn/online_learner.hpp"
#include "learn/slot_names.hpp"

namespace fsstream {

class BArda final : public OnlineLearner {
 public:
  BArda(Loss loss, const BudgetedOptions& options);

  void update(const Batch& batch, float* scores) override;
  std::vector<Chosen> chosen() const override;
  double intercept() const override { return -options_.eta * bias_.sum / bias_.line.spread; }
  std::size_t features() const override { return table_.size(); }
  std::size_t bytes() const override { return bytes_with(table_.size()); }
  std::uint64_t collisions() const override { return names_.collisions(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  double tau() const { return options_.lambda * options_.eta * static_cast<double>(steps_); }
  double weight(const DualRecord& feature) const { return -options_.eta * feature.sum / (tau() + feature.line.spread); }
  std::size_t bytes_with(std::size_t features) const;
  void reserve(const Batch& batch, std::size_t entries);
  double predict(const Batch& batch, std::size_t row);
  void descend(const Batch& batch, std::size_t row, double slope);
  void add_gradient(DualRecord& feature, double g) const;
  void draw_line(DualRecord& feature) const;

  Loss loss_;
  BudgetedOptions options_;
  std::uint64_t steps_ = 0;
  DualRecord bias_;
  FeatureTable<DualRecord> table_;
  BudgetOrder order_;
  SlotNames names_;
  std::vector<Slot> found_;  // slots of the row's entries
};

}  // namespace fsstream

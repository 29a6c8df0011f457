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
// store = exact keeps the sums of every feature seen, in a table that ends with LimitExceeded
// when it would pass `memory`. store = sketch keeps them for a working set of 2 B features;
// the others' are in a count-sketch (G) and a count-min (squares). A feature of the row whose
// estimated score beats the weakest of the working set takes its slot, with the estimates
// as its sums; what leaves is written back so that the sketches say what it had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "learn/budget_order.hpp"
#include "learn/feature_table.hpp"
#include "learn/loss.hpp"
#include "learn/online_learner.hpp"
#include "learn/rate.hpp"
#include "learn/slot_names.hpp"
#include "sketch/count_min.hpp"
#include "sketch/count_sketch.hpp"

namespace fsstream {

class BArda final : public OnlineLearner {
 public:
  BArda(Loss loss, const BudgetedOptions& options);

  void update(const Batch& batch, float* scores) override;
  std::vector<Chosen> chosen() const override;
  // 0 - sum: without an intercept the sum is 0, and -0.0 would be written.
  double intercept() const override { return rate_.eta() * (0.0 - bias_.sum) / bias_.line.spread; }
  std::size_t features() const override { return table_.size(); }
  std::size_t bytes() const override { return bytes_with(table_.size()); }
  std::uint64_t collisions() const override { return names_.collisions(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  double weight(const DualRecord& feature) const { return -rate_.eta() * feature.sum / (tau_ + feature.line.spread); }
  std::size_t bytes_with(std::size_t features) const;
  void reserve(const Batch& batch, std::size_t entries);
  double predict(const Batch& batch, std::size_t row);
  void part_row(std::size_t count);
  void find_others(const Batch& batch, std::size_t begin, double slope);
  void descend(const Batch& batch, std::size_t row, double slope);
  void meet(const Batch& batch, std::size_t begin, double slope);
  void look_up_others(const Batch& batch, std::size_t begin);
  void add_to_sketch(const Batch& batch, std::size_t begin, double slope);
  void consider(const Batch& batch, std::size_t j, const DualRecord& fresh);
  bool exact() const { return !sketch_.has_value(); }
  std::size_t working_set() const { return 2 * options_.budget; }
  void add_gradient(DualRecord& feature, double g) const;
  void draw_line(DualRecord& feature) const;

  Loss loss_;
  BudgetedOptions options_;
  Rate rate_;
  std::uint64_t steps_ = 0;
  double tau_ = 0.0;  // lambda eta t; does not fall where eta is found on the way
  DualRecord bias_;
  FeatureTable<DualRecord> table_;
  BudgetOrder order_;
  SlotNames names_;
  std::optional<CountSketch> sketch_;  // sums of gradients of features without a slot
  CountMin squares_;                   // and of their squares
  HashedKeys hashed_;
  std::vector<Slot> found_;  // slots of the row's entries
  // Entries of the row: with a weight, without one, without a slot (apart once the row is learned).
  Buffer<std::uint32_t> members_, outsiders_, others_;
  std::vector<Key> keys_of_;         // of the others, and what the sketches are told of them
  std::vector<std::size_t> places_;  // of each, in squares_
  std::vector<float> steps_of_, estimates_;
};

}  // namespace fsstream

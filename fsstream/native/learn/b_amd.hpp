// B-AMD: budgeted adaptive mirror descent.
//
//   minimise  sum over t of  f(w_t . x_t, y_t) + lambda/2 |w_t|^2,   |w_t|_0 <= B
//
// "Online Feature Selection by Adaptive Sub-gradient Methods", Algorithm 2:
//
//   g = f' x + lambda w,  H = delta + sqrt(sum of g^2)
//   z = w - eta g / H
//   w = z on the B features with the largest H |z|, 0 elsewhere
//
// H |z| is computed as |H w - eta g|: for a feature without a weight it is eta |g|, so equal
// sub-gradients tie, as they do on paper, and the smaller key wins.
//
// Only features with a weight or in the row can have z != 0. With lambda > 0 every weight
// moves at every step: one sweep over B seats, vectorised; with lambda = 0 only the row's.
// An intercept, on request, is one more feature outside the budget that is not shrunk.
//
// The sum of squares of a member lives at its seat; of the others in the table (exact: all
// features seen) or in a count-min (the table then holds the members alone, slot = seat).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "learn/budget_set.hpp"
#include "learn/feature_table.hpp"
#include "learn/loss.hpp"
#include "learn/online_learner.hpp"
#include "learn/rate.hpp"
#include "learn/slot_names.hpp"
#include "sketch/count_min.hpp"

namespace fsstream {

class BAmd final : public OnlineLearner {
 public:
  BAmd(Loss loss, const BudgetedOptions& options);

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
    double squares = 0.0;  // of the sub-gradients; of a member: see squares_
    Slot seat = kNobody;
  };

  std::size_t bytes_with(std::size_t features) const;
  void reserve(const Batch& batch, std::size_t entries);
  double predict(const Batch& batch, std::size_t row);
  void descend(const Batch& batch, std::size_t row, double slope);
  void offer_others(const Batch& batch, std::size_t row, double slope);
  void move_row(const Batch& batch, double slope);
  void sweep(const Batch& batch, double slope);
  void move_bias(double slope);
  double truncation_score(double h, double w, double g) const;
  void offer(const Batch& batch, std::size_t j, Slot slot, double g);
  bool admits(Key key, double score);
  void unseat();
  void take_seat(Slot slot, Slot seat);
  void resize_seats(std::size_t seats);
  bool exact() const { return options_.sketch_width == 0; }

  Loss loss_;
  BudgetedOptions options_;
  Rate rate_;
  double bias_ = 0.0;
  double bias_squares_ = 0.0;
  bool stale_ = false;  // scores were swept: the set's order is to be built again
  double floor_ = 0.0;  // no score is below while stale_
  FeatureTable<Seen> table_;
  CountMin sketch_;
  BudgetSet set_;
  SlotNames names_;
  std::vector<Slot> slots_;      // of each seat
  std::vector<double> squares_;  // of each seat
  std::vector<double> values_;   // of each seat in the row at hand, else 0
  std::vector<Slot> found_;      // slots of the row's entries
  struct Found {
    std::size_t entry;
    Slot slot;
  };
  std::vector<Found> members_;  // the row's entries with a weight, in the row's order
};

}  // namespace fsstream

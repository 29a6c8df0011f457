// The l1 methods that B-ARDA and B-AMD are measured against, for several l1 weights at once.
//
//   minimise  sum over t of  f(w_t . x_t, y_t) + lambda |w_t|_1
//
// Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
// Optimization" (2011), with H_i = delta + sqrt(sum of g_i^2):
//
//   l1-ARDA    w_i = sign(-G_i) (eta / H_i) max(0, |G_i| - lambda t),    G the sum of g
//   Ada-Fobos  u_i = w_i - (eta / H_i) g_i,  w_i = sign(u_i) max(0, |u_i| - lambda eta / H_i)
//
// What time alone does to a feature is known in closed form, so features are touched when
// they occur: l1-ARDA's weight follows from G and t, Ada-Fobos's shrinks by
// lambda eta / H_i for each step since.
//
// The number of features cannot be asked of an l1 weight; it has to be found. A ladder of
// weights (rungs) is learned over one pass of the data; each feature has one record with a
// pair of numbers a rung, side by side, so that a rung costs a lane and not a lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "learn/feature_table.hpp"
#include "learn/loss.hpp"
#include "learn/online_learner.hpp"
#include "learn/rate.hpp"
#include "learn/slot_names.hpp"

namespace fsstream {

enum class L1Method { kDualAveraging, kMirrorDescent };

struct L1Options {
  std::vector<double> rungs;  // l1 weights, falling
  std::size_t k = 0;          // features wanted; 0: whatever the first rung leaves
  double eta = 0.1;
  double delta = 0.01;
  bool intercept = false;
  std::size_t memory = std::size_t{1} << 30;
};

class L1Ladder final : public OnlineLearner {
 public:
  L1Ladder(L1Method method, Loss loss, const L1Options& options);

  void update(const Batch& batch, float* scores) override;
  // Of the best rung: the one that leaves the fewest features, but at least k.
  std::vector<Chosen> chosen() const override;
  double intercept() const override { return bias_weight(best_rung()); }
  std::size_t features() const override { return table_.size(); }
  std::size_t bytes() const override { return bytes_with(table_.size()); }
  std::uint64_t collisions() const override { return names_.collisions(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

  // Features with a weight, rung by rung.
  std::vector<std::uint64_t> counts() const;
  std::size_t best_rung() const;

 private:
  struct Seen {
    Key key = 0;
    double path = 0.0;  // what of path_ is counted in its weights (mirror descent)
  };

  std::size_t rungs() const { return options_.rungs.size(); }
  double* first(std::size_t slot) { return numbers_.data() + 2 * rungs() * slot; }
  const double* first(std::size_t slot) const { return numbers_.data() + 2 * rungs() * slot; }
  double* squares(std::size_t slot) { return first(slot) + rungs(); }
  const double* squares(std::size_t slot) const { return first(slot) + rungs(); }
  std::size_t bytes_with(std::size_t features) const;
  void reserve(const Batch& batch, std::size_t entries);
  void weigh(Slot slot, double* weights) const;
  void predict(const Batch& batch, std::size_t row);
  void descend(const Batch& batch, std::size_t row);
  void move(Slot slot, const double* weights, double x);
  void move_bias();
  double bias_weight(std::size_t rung) const;

  L1Method method_;
  Loss loss_;
  L1Options options_;
  Rate rate_;
  std::uint64_t steps_ = 0;
  double path_ = 0.0;       // sum of eta over the steps
  std::size_t leader_ = 0;  // whose scores are returned
  FeatureTable<Seen> table_;
  Buffer<double> numbers_;    // a slot: rungs sums of gradients (or weights), rungs squares
  std::vector<double> bias_;  // the same pairs for the intercept
  SlotNames names_;
  std::vector<Slot> found_;          // slots of the row's entries
  std::vector<double> weights_;      // of the row's entries, rung by rung
  std::vector<double> predictions_;  // of the row
  std::vector<double> slopes_;       // of the row
};

}  // namespace fsstream

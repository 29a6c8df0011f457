// OnlineLearner: what the budgeted and l1 learners have in common, seen from outside.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "core/state.hpp"
#include "learn/weights.hpp"

namespace fsstream {

// Of the learners that keep B weights.
struct BudgetedOptions {
  std::size_t budget = 1;
  double eta = 0.1;
  double lambda = 0.0;
  double delta = 0.01;
  bool intercept = false;
  bool weighted = true;          // false: truncation by |z|, the ablation of section 4.1
  std::size_t sketch_width = 0;  // cells a row; 0: the state of all features is kept
  int sketch_depth = 3;
  std::uint64_t seed = 0;
  std::size_t memory = std::size_t{1} << 30;
};

class OnlineLearner {
 public:
  explicit OnlineLearner(std::size_t memory) : memory_(memory) {}
  virtual ~OnlineLearner() = default;
  OnlineLearner(const OnlineLearner&) = delete;
  OnlineLearner& operator=(const OnlineLearner&) = delete;

  // Learns the rows in order; scores[r] is the prediction for row r before it was learned.
  virtual void update(const Batch& batch, float* scores) = 0;

  // From now on it may take so many bytes.
  void allow(std::size_t memory) { memory_ = memory; }

  // The features with a non-zero weight, in no particular order.
  virtual std::vector<Chosen> chosen() const = 0;
  virtual double intercept() const = 0;
  virtual std::size_t features() const = 0;  // those that state is kept for
  virtual std::size_t bytes() const = 0;
  virtual std::uint64_t collisions() const = 0;

  virtual void save(StateWriter& out) const = 0;
  virtual void load(const StateReader& in) = 0;

 protected:
  std::size_t memory() const { return memory_; }

 private:
  std::size_t memory_;
};

}  // namespace fsstream

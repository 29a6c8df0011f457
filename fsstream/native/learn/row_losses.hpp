// Losses of many rows at once, in wide registers: each row's is Loss's, to the bit.
#pragma once

#include <cstddef>
#include <utility>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "learn/loss.hpp"

namespace fsstream {

// losses[r] = loss of the prediction scores[r] for targets[r].
void row_losses(const Loss& loss, const float* scores, const float* targets, std::size_t count, double* losses);

// The loss of rows before they were learned, weighted by importance and summed in their order.
class ProgressiveLoss {
 public:
  void add(double loss, double importance) {
    sum_ += importance * loss;
    weight_ += importance;
  }
  // Those of a batch.
  void add(const Loss& loss, const Batch& batch, const float* scores);
  // What was summed since the last call, and the weight it was summed over.
  std::pair<double, double> take() { return {std::exchange(sum_, 0.0), std::exchange(weight_, 0.0)}; }

  double sum() const { return sum_; }
  double weight() const { return weight_; }
  void set(double sum, double weight) { sum_ = sum, weight_ = weight; }

 private:
  double sum_ = 0.0;
  double weight_ = 0.0;
  Buffer<double> losses_;
};

}  // namespace fsstream

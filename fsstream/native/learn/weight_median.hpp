// WeightMedian: the active-set weight-median sketch. A count-sketch holds the weights of all
// features, an active set the k heaviest exactly, and both count in predictions.
//
//   score   sum over active of S_i x_i + the mean over the sketch's rows of sum sign(r, i) cell(r, i) x_i
//   add     as RememberingWeights: who enters is judged by the median over rows
//
// Tai, Sharan, Bailis, Valiant: "Sketching Linear Classifiers over Data Streams", SIGMOD 2018.
#pragma once

#include "learn/remembering_weights.hpp"

namespace fsstream {

class WeightMedian final : public RememberingWeights<CountSketch> {
 public:
  using RememberingWeights::RememberingWeights;

  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t) override {
    memory_.hash(batch.keys.data() + first, size, hashed_);
  }
  double score(const Row& row) override;
  std::size_t bytes() const override { return RememberingWeights::bytes() + hashed_.bytes(); }

 private:
  HashedKeys hashed_;
};

}  // namespace fsstream

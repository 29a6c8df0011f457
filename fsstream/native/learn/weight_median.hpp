// WeightMedian: the active-set weight-median sketch. A count-sketch holds the weights of all
// features, an active set the k heaviest exactly, and both count in predictions.
//
//   score   sum over active of S_i x_i + the mean over the sketch's rows of sum sign(r, i) cell(r, i) x_i
//   add     active: S_i += c x_i.  Another i: w = query(i) + c x_i, query being the median over rows;
//           if |w| exceeds the smallest |S|, i enters with w, and the one that leaves is written back so
//           that asking gives its weight; otherwise the sketch gets c x_i.
//
// Tai, Sharan, Bailis, Valiant: "Sketching Linear Classifiers over Data Streams", SIGMOD 2018.
#pragma once

#include "learn/thresholded_weights.hpp"
#include "sketch/count_sketch.hpp"

namespace fsstream {

class WeightMedian final : public ThresholdedWeights {
 public:
  WeightMedian(CountSketch sketch, std::size_t k) : ThresholdedWeights(k), sketch_(std::move(sketch)) {}

  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  std::size_t bytes() const override { return ThresholdedWeights::bytes() + sketch_.bytes() + hashed_.bytes(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  CountSketch sketch_;  // in the unit of the seats' weights
  HashedKeys hashed_;
};

}  // namespace fsstream

// DenseWeights: feature hashing. A table of 2^bits weights, every key in one cell, every cell
// active; nothing can be selected or named. A ceiling for what sketches of k features reach.
#pragma once

#include "learn/weights.hpp"
#include "sketch/count_sketch.hpp"

namespace fsstream {

class DenseWeights final : public Weights {
 public:
  DenseWeights(int bits, std::uint64_t seed) : table_(1, std::size_t{1} << bits, seed) {}

  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double) override {}
  void seed(Key key, const std::string& name, float weight) override;
  std::vector<Chosen> top() const override { return {}; }
  std::size_t bytes() const override { return table_.bytes() + hashed_.bytes(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  CountSketch table_;  // of one row: its signs cost nothing and take the bias out of collisions
  HashedKeys hashed_;
  Buffer<float> weights_;
};

}  // namespace fsstream

// AccumulatedWeights: batch IHT. Weights gather in an explicit table; whenever it is full, it is
// sorted and pruned to the k largest |w|. Between prunes all of the table counts.
//
// The batch IHT of the MISSION paper, whose table has as many entries as the sketch it is
// compared with has cells.
#pragma once

#include "learn/weights.hpp"
#include "sketch/active_set.hpp"

namespace fsstream {

class AccumulatedWeights final : public Weights {
 public:
  // `table` entries, more than k.
  AccumulatedWeights(std::size_t k, std::size_t table) : k_(k), set_(table) {}

  void hash(const Batch&, std::size_t, std::size_t, std::size_t) override {}
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double) override {}
  void seed(Key key, const std::string& name, float weight) override;
  std::vector<Chosen> top() const override;
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  std::vector<std::pair<std::string, std::string>> collided() const override { return set_.collided(); }
  std::size_t bytes() const override { return set_.bytes(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  static std::uint32_t home(Key key);
  void prune();

  std::size_t k_;
  ActiveSet set_;
  std::vector<std::uint32_t> slots_;  // of the row's entries
  double scale_ = 1.0;
  std::uint64_t prunes_ = 0;
};

}  // namespace fsstream

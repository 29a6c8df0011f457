// AccumulatedWeights: batch IHT. Weights gather in an explicit table; whenever it is full, it is
// pruned to the k largest |w| (ties: the smaller key). Between prunes all of the table counts.
//
// New features are appended, so that a row writes its weights side by side; what it asks for at
// random are four bytes of the table's index a feature. A prune empties the table and puts the k
// best back: its cost is that of as many rows as filled it.
//
// The batch IHT of the MISSION paper, whose table has as many entries as the sketch it is
// compared with has cells.
#pragma once

#include <algorithm>

#include "learn/feature_table.hpp"
#include "learn/slot_names.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class AccumulatedWeights final : public Weights {
 public:
  // `room` entries, more than k.
  AccumulatedWeights(std::size_t k, std::size_t room) : k_(k), room_(room) {}

  void hash(const Batch&, std::size_t, std::size_t, std::size_t) override {}
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double) override {}
  void seed(Key key, const std::string& name, float weight) override;
  std::vector<Chosen> top() const override;
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  // With the room that the table doubles to next: those of all classes do so in one row.
  std::size_t bytes() const override { return table_.bytes_with(std::min(2 * table_.size(), room_)) + names_.bytes(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  struct Record {
    Key key;
    float weight;
  };
  void reserve(const Batch& batch, std::size_t entries);
  void prune();
  float smallest_kept() const;

  std::size_t k_;
  std::size_t room_;
  FeatureTable<Record> table_;
  SlotNames names_;
  Buffer<Slot> slots_;  // of the row's entries
  double scale_ = 1.0;
  std::uint64_t prunes_ = 0;
};

}  // namespace fsstream

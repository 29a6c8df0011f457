// ThresholdedWeights: iterative hard thresholding. After every step the k largest |w| stay and
// all else is forgotten: w <- H_k(w + coefficient x). Ties go to the smaller key.
//
// H_k of a step is found by offering the row's new features one by one against the weakest:
// the order of offers does not matter, the k best of all are left.
//
// Blumensath and Davies, "Iterative hard thresholding for compressed sensing", 2009; the
// baseline IHT of the MISSION paper.
#pragma once

#include <vector>

#include "learn/budget_set.hpp"
#include "learn/feature_table.hpp"
#include "learn/slot_names.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class ThresholdedWeights : public Weights {
 public:
  explicit ThresholdedWeights(std::size_t k) : k_(k), set_(k) {}

  void hash(const Batch&, std::size_t, std::size_t, std::size_t) override {}
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double) override {}  // what is not among the top k is zero
  // The weight of an active feature, else 0.
  double active(Key key) const {
    const Slot seat = table_.find(key);
    return seat == kNobody ? 0.0 : scale_ * set_.weight(seat);
  }
  void seed(Key key, const std::string& name, float weight) override;
  std::vector<Chosen> top() const override;
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  std::size_t bytes() const override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 protected:
  struct Record {
    Key key;
  };
  struct Member {
    std::size_t j;
    Slot seat;
  };
  void reserve(const Batch& batch, std::size_t entries);
  // The weights of the row's features that have a seat, times x; in the unit of the seats.
  double look_up(const Row& row);
  void move_members(const Batch& batch, double step);
  // The seat, or kNobody when the key is too weak.
  Slot offer(Key key, double weight);
  // The scale goes into the weights.
  void rescale();

  std::size_t k_;
  BudgetSet set_;
  FeatureTable<Record> table_;  // key -> seat
  SlotNames names_;
  std::vector<Member> members_;  // entries of the row that have a seat
  std::vector<std::size_t> others_;
  double scale_ = 1.0;  // true weight = scale * the seat's
  std::uint64_t dropped_ = 0;
};

}  // namespace fsstream

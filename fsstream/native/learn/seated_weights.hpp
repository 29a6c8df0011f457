// SeatedWeights: at most k weights, found by key, with names, in the unit of a common scale.
//
// The heaviest stay: a new key takes the seat of the smallest |weight| when its own is larger
// (ties: the smaller key). The true weight is scale() times the seat's, so shrinking all of
// them costs nothing until the scale is folded in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/state.hpp"
#include "learn/budget_set.hpp"
#include "learn/feature_table.hpp"
#include "learn/slot_names.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class SeatedWeights {
 public:
  // With a smaller scale it is time to fold it in: weights are double.
  static constexpr double kSmallestScale = 1e-60;

  // An entry of a row whose feature has a seat.
  struct Member {
    std::size_t entry;
    Slot seat;
  };

  explicit SeatedWeights(std::size_t k) : k_(k), set_(k) {}

  std::size_t size() const { return set_.size(); }
  bool full() const { return set_.full(); }
  bool holds(Key key) const { return table_.find(key) != kNobody; }
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // In the unit of the seats, as all weights here.
  double weight(Slot seat) const { return set_.weight(seat); }
  Key key(Slot seat) const { return set_.key(seat); }
  Slot find(Key key) const { return table_.find(key); }
  Slot weakest() const { return set_.weakest(); }
  std::uint64_t collisions() const { return names_.collisions(); }
  // How often a seat was taken: unless that rises, nobody new has one.
  std::uint64_t entered() const { return entered_; }

  std::size_t seats_with(std::size_t entries) const { return std::min(size() + entries, k_); }
  std::size_t bytes_with(std::size_t seats) const {
    return table_.bytes_with(seats) + set_.bytes(seats) + names_.bytes();
  }
  // With room for a row of so many new features.
  std::size_t bytes_for(const Batch& batch, std::size_t entries) const {
    return bytes_with(seats_with(entries)) + names_.bytes_of(batch, seats_with(entries) - size());
  }
  void reserve(const Batch& batch, std::size_t entries);

  // Sum of weight times x over the entries that have a seat; members() and others() are of this row then.
  double look_up(const Batch& batch, std::size_t begin, std::size_t end);
  const std::vector<Member>& members() const { return members_; }
  const std::vector<std::size_t>& others() const { return others_; }

  // Adds step x to a member; returns its weight then.
  double move(const Batch& batch, const Member& member, double step);
  // A seat for entry j with this weight, or kNobody when it is too weak.
  Slot offer(const Batch& batch, std::size_t j, Key key, double weight) {
    return set_.admits(key, std::abs(weight)) ? enter(batch, j, key, weight) : kNobody;
  }
  // The same without a batch.
  void seed(Key key, const std::string& name, double weight);

  void shrink(double factor) { scale_ *= factor; }
  // The scale goes into the weights.
  void fold_scale();

  std::vector<Chosen> chosen() const;
  // Keys, weights and names; the scale is the owner's to keep.
  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  struct Record {
    Key key = 0;
  };
  Slot enter(const Batch& batch, std::size_t j, Key key, double weight);

  std::size_t k_;
  BudgetSet set_;
  FeatureTable<Record> table_;  // a slot is a seat
  SlotNames names_;
  double scale_ = 1.0;
  std::uint64_t entered_ = 0;
  Buffer<Slot> found_;           // seats of the row's entries
  std::vector<Member> members_;  // those that have one
  std::vector<std::size_t> others_;
};

}  // namespace fsstream

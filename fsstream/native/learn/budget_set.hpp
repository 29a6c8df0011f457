// At most B weights, and which of them is the weakest.
//
// For learners whose scores change only when a feature is touched. Seats are numbered
// 0 .. size-1; a seat's key, weight and score are parallel arrays, so that a learner may
// also sweep over all of them. Stronger: the larger score, then the smaller key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "learn/kinetic_tournament.hpp"

namespace fsstream {

class BudgetSet {
 public:
  explicit BudgetSet(std::size_t budget) : budget_(budget), weakest_({this}) {}

  std::size_t size() const { return keys_.size(); }
  bool full() const { return size() == budget_; }
  Key key(Slot seat) const { return keys_[seat]; }
  double& weight(Slot seat) { return weights_[seat]; }
  double weight(Slot seat) const { return weights_[seat]; }
  double& score(Slot seat) { return scores_[seat]; }
  std::span<const Key> keys() const { return keys_.span(); }
  std::span<const double> weights() const { return weights_.span(); }
  std::span<double> weights() { return weights_.span(); }
  std::span<const double> scores() const { return scores_.span(); }
  std::span<double> scores() { return scores_.span(); }
  // With so many seats in use.
  std::size_t bytes(std::size_t seats) const {
    return seats * (sizeof(Key) + 2 * sizeof(double)) + weakest_.bytes(seats);
  }

  // Called between rows: so many may enter.
  void reserve(std::size_t more) {
    const std::size_t seats = std::min(budget_, size() + more);
    if (seats <= weakest_.leaves()) return;
    weakest_.grow(seats);
    keys_.reserve(weakest_.leaves());
    weights_.reserve(weakest_.leaves());
    scores_.reserve(weakest_.leaves());
  }

  // The seat that enter() would give to another, when full.
  Slot weakest() const { return weakest_.winner(); }
  bool admits(Key key, double score) const {
    if (!full()) return true;
    const Slot seat = weakest();
    return score > scores_[seat] || (score == scores_[seat] && key < keys_[seat]);
  }

  // Takes a free seat, or the weakest's.
  Slot enter(Key key, double weight, double score) {
    const Slot seat = full() ? weakest() : static_cast<Slot>(size());
    if (!full()) {
      keys_.push_back(key);
      weights_.push_back(weight);
      scores_.push_back(score);
    }
    keys_[seat] = key;
    weights_[seat] = weight;
    scores_[seat] = score;
    weakest_.place(seat, seat);
    return seat;
  }

  void touch(Slot seat) { weakest_.touch(seat); }
  void rebuild() { weakest_.rebuild(); }

 private:
  struct Weaker {
    static constexpr bool kDrifts = false;
    const BudgetSet* set;
    Judgement judge(Slot i, Slot j, double) const {
      const double a = set->scores_[i];
      const double b = set->scores_[j];
      return {a < b || (a == b && set->keys_[i] > set->keys_[j])};
    }
  };

  std::size_t budget_;
  Buffer<Key> keys_;
  Buffer<double> weights_;
  Buffer<double> scores_;
  KineticTournament<Weaker> weakest_;
};

}  // namespace fsstream

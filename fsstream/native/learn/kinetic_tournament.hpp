// A knock-out tournament whose contestants change strength as time goes on.
//
// Leaves hold slots (contestants) or kNobody; every inner node holds the winner of its
// two children. Time only moves forward. The Rule knows the contestants:
//
//   judge(i, j, now)  whether i beats j, in a strict total order of the slots at that time, and
//                     a time before which this surely stays so
//   kDrifts           false: strengths change only when a slot is touched
//
// Invariant, for every inner node n and every time `now` with now < until_[n]:
//   winner_[n] is the slot below n that beats all others there, and
//   until_[n] <= until_[child of n].
// (A time that is too early costs a look, no mistake: that is why until_ may stay behind.)
// A node is judged again when its time has come, a path when one of its slots changed.
// Where any two slots change order at most once while untouched (B-ARDA's scores do), a
// node that saw m states of its slots changes its winner by time alone at most O(m a(m))
// times (an envelope of line segments; a is inverse Ackermann), and each change is found
// from the root: O(a(n) log^2 n) a touched slot, amortised, and nothing for the others.
// A path ends early at the first node that keeps a winner other than the touched slot: two
// or three levels for a slot drawn at random, whatever n is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "core/buffer.hpp"
#include "learn/slot.hpp"

namespace fsstream {

struct Judgement {
  bool first_wins;
  float until = std::numeric_limits<float>::infinity();
};

template <class Rule>
class KineticTournament {
 public:
  explicit KineticTournament(Rule rule) : rule_(rule) {}

  // The winner at the present time, or kNobody.
  Slot winner() const { return leaves_ == 0 ? kNobody : winner_[1]; }
  std::size_t leaves() const { return leaves_; }
  static std::size_t bytes(std::size_t leaves) {
    return std::bit_ceil(leaves) * (2 * sizeof(Slot) + (Rule::kDrifts ? sizeof(float) : 0));
  }

  // So that grow() up to here needs no memory but what it uses.
  void reserve(std::size_t leaves) {
    winner_.reserve(2 * std::bit_ceil(leaves));
    if constexpr (Rule::kDrifts) until_.reserve(std::bit_ceil(leaves));
  }

  // Makes room for at least this many leaves; new ones hold nobody.
  void grow(std::size_t leaves) {
    if (leaves <= leaves_) return;
    std::size_t wider = leaves_ == 0 ? 2 : leaves_;
    while (wider < leaves) wider *= 2;
    winner_.reserve(2 * wider);
    winner_.set_size(2 * wider);
    std::copy_n(winner_.data() + leaves_, leaves_, winner_.data() + wider);
    std::fill_n(winner_.data() + wider + leaves_, wider - leaves_, kNobody);
    if constexpr (Rule::kDrifts) {
      until_.reserve(wider);
      until_.set_size(wider);
    }
    leaves_ = wider;
    rebuild();
  }

  // Puts a slot, or nobody, on a leaf; to be followed by touch() or rebuild().
  void seat(std::size_t leaf, Slot slot) { winner_[leaves_ + leaf] = slot; }

  // The strength of the leaf's slot has changed, or the slot itself.
  void touch(std::size_t leaf) {
    const Slot changed = winner_[leaves_ + leaf];
    for (std::size_t node = (leaves_ + leaf) / 2; node != 0; node /= 2) {
      const Slot won = winner_[node];
      judge(node);
      if (winner_[node] == won && won != changed) {
        hurry(node);
        return;
      }
    }
  }

  void place(std::size_t leaf, Slot slot) {
    seat(leaf, slot);
    touch(leaf);
  }

  // Judges everything: cheaper than touching more than every other leaf.
  void rebuild() {
    for (std::size_t node = leaves_; node > 1;) judge(--node);
  }

  void advance(double now) {
    now_ = now;
    if constexpr (Rule::kDrifts) {
      if (leaves_ != 0) settle(1);
    }
  }

 private:
  // Lets the nodes above look no later than this one.
  void hurry(std::size_t node) {
    if constexpr (Rule::kDrifts) {
      const float last = until_[node];
      for (node /= 2; node != 0 && until_[node] > last; node /= 2) until_[node] = last;
    }
  }

  void judge(std::size_t node) {
    const Slot left = winner_[2 * node];
    const Slot right = winner_[2 * node + 1];
    const bool alone = left == kNobody || right == kNobody;
    const Judgement judged = alone ? Judgement{right == kNobody} : rule_.judge(left, right, now_);
    winner_[node] = judged.first_wins ? left : right;
    if constexpr (Rule::kDrifts) {
      float last = judged.until;
      if (2 * node < leaves_) last = std::min(last, std::min(until_[2 * node], until_[2 * node + 1]));
      until_[node] = last;
    }
  }

  void settle(std::size_t node) {
    if (now_ < static_cast<double>(until_[node])) return;
    if (2 * node < leaves_) {
      settle(2 * node);
      settle(2 * node + 1);
    }
    judge(node);
  }

  Rule rule_;
  double now_ = 0.0;
  std::size_t leaves_ = 0;  // a power of two; leaf i is node leaves_ + i
  Buffer<Slot> winner_;     // [2 leaves_]; node 1 is the root
  Buffer<float> until_;     // [leaves_], inner nodes only
};

}  // namespace fsstream

// Who is in the budget: B-ARDA's truncation step, kept exact in time independent of d.
//
//   members    at most B slots; the tournament knows the weakest of them
//   outsiders  all other slots of the table; the tournament knows the strongest
//
// Invariant after settle(): every member is stronger than every outsider at the present
// tau, in the order of score_line.hpp (a total order, so the members are the B largest of
// Algorithm 1, ties by the smaller key). A row moves tau once and touches its own slots;
// the two tournaments find the pairs that crossed, and settle() exchanges the strongest
// outsider with the weakest member until none is out of place: one exchange a feature
// that enters. A table of bounded size (`crowded`) also wants to know the weakest outsider,
// whose slot goes to a feature that deserves it more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learn/feature_table.hpp"
#include "learn/kinetic_tournament.hpp"
#include "learn/score_line.hpp"

namespace fsstream {

// What B-ARDA remembers of a feature.
struct DualRecord {
  Key key = 0;
  double sum = 0.0;      // of the sub-gradients
  double squares = 0.0;  // of the sub-gradients
  ScoreLine line;        // follows from the two
  Slot seat = kNobody;   // among the members
};

class BudgetOrder {
 public:
  using Table = FeatureTable<DualRecord>;

  BudgetOrder(Table& table, std::size_t budget, bool drifts, bool crowded)
      : table_(table),
        budget_(budget),
        crowded_(crowded),
        members_({&table, drifts}),
        outsiders_({&table, drifts}),
        leavers_({&table, drifts}) {}

  // For a table of this capacity.
  std::size_t bytes(std::size_t capacity) const {
    const std::size_t seats = std::min(budget_, capacity);
    return (crowded_ ? 2 : 1) * Strongest::bytes(capacity) + Weakest::bytes(seats) + seats * sizeof(Slot);
  }
  const Buffer<Slot>& members() const { return seats_; }
  bool is_member(Slot slot) const { return table_[slot].seat != kNobody; }

  void reserve() {
    members_.grow(std::min(budget_, table_.capacity()));
    outsiders_.grow(table_.capacity());
    if (crowded_) leavers_.grow(table_.capacity());
  }

  void advance(double tau) {
    tau_ = tau;
    members_.advance(tau);
    outsiders_.advance(tau);
    leavers_.advance(tau);
  }

  // A slot new in the table: a member while there is room.
  void enter(Slot slot) {
    if (seats_.size() < budget_) {
      table_[slot].seat = static_cast<Slot>(seats_.size());
      seats_.push_back(slot);
      members_.place(table_[slot].seat, slot);
    } else {
      table_[slot].seat = kNobody;
      place_outside(slot, slot);
    }
  }

  // The outsider that a crowded table can spare.
  Slot weakest_outsider() const { return leavers_.winner(); }

  // The slot's line has changed.
  void touch(Slot slot) {
    const Slot seat = table_[slot].seat;
    if (seat == kNobody) {
      outsiders_.touch(slot);
      if (crowded_) leavers_.touch(slot);
    } else {
      members_.touch(seat);
    }
  }

  // After changes to more slots than touch() is good for.
  void rebuild() {
    members_.rebuild();
    outsiders_.rebuild();
    leavers_.rebuild();
  }

  void settle() {
    for (;;) {
      const Slot rising = outsiders_.winner();
      const Slot falling = members_.winner();
      if (rising == kNobody || falling == kNobody || stronger_slot(table_, falling, rising, tau_)) return;
      exchange(rising, falling);
    }
  }

 private:
  static bool stronger_slot(const Table& table, Slot i, Slot j, double tau) {
    return stronger(table[i].line, table[i].key, table[j].line, table[j].key, tau);
  }

  // The stronger slot wins, or the weaker one.
  template <bool kUp>
  struct ByScore {
    static constexpr bool kDrifts = true;
    const Table* table;
    bool drifts;

    bool beats(Slot i, Slot j, double tau) const {
      return kUp ? stronger_slot(*table, i, j, tau) : stronger_slot(*table, j, i, tau);
    }
    float until(Slot i, Slot j, double tau) const {
      if (!drifts) return std::numeric_limits<float>::infinity();
      const ScoreLine& winner = (*table)[i].line;
      const ScoreLine& loser = (*table)[j].line;
      return kUp ? stronger_until(winner, loser, tau) : stronger_until(loser, winner, tau);
    }
  };
  using Strongest = KineticTournament<ByScore<true>>;
  using Weakest = KineticTournament<ByScore<false>>;

  void exchange(Slot rising, Slot falling) {
    const Slot seat = table_[falling].seat;
    table_[falling].seat = kNobody;
    table_[rising].seat = seat;
    seats_[seat] = rising;
    members_.place(seat, rising);
    place_outside(rising, kNobody);
    place_outside(falling, falling);
  }

  void place_outside(Slot leaf, Slot slot) {
    outsiders_.place(leaf, slot);
    if (crowded_) leavers_.place(leaf, slot);
  }

  Table& table_;
  std::size_t budget_;
  bool crowded_;
  double tau_ = 0.0;
  Buffer<Slot> seats_;  // slot of each member
  Weakest members_;
  Strongest outsiders_;
  Weakest leavers_;  // the outsiders once more, when crowded
};

}  // namespace fsstream

// Who is in the budget: B-ARDA's truncation step, kept exact in time independent of d.
//
//   members     at most B slots; a tournament knows the weakest of them
//   contenders  outsiders that may soon be stronger than that; a tournament knows the strongest
//   the rest    filed by level, and not looked at while only time goes by
//
// Invariant after settle(): every member is stronger than every outsider at the present
// tau, in the order of score_line.hpp (a total order, so the members are the B largest of
// Algorithm 1, ties by the smaller key). A row moves tau once and touches its own slots;
// the two tournaments find the pairs that crossed, and settle() exchanges the strongest
// contender with the weakest member until none is out of place: one exchange a feature
// that enters.
//
// Untouched, a score height / (tau + spread) only falls as tau grows; its level, too, and in
// floating point as well. Hence the invariant of the rest: a slot's level is at most that of
// the list it is in, and no list above bar_ holds anybody. While the weakest member's level is
// above bar_, nobody of the rest is stronger; while the strongest contender's is, it is the
// strongest of all outsiders. Where neither is so, the list at the bar is opened, and the bar
// lowered by one: who stands above it becomes a contender, the others go to lower lists. So a
// slot is looked at once for each level it falls between two touches, and a touch of one that stays
// below its level is a comparison. A member that falls far is exchanged for a contender
// above the bar, and opens nothing. The bar rises for nothing: contenders that are below it
// leave when they are touched.
//
// A table of bounded size (`crowded`) also wants to know the weakest outsider, whose slot
// goes to a feature that deserves it more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learn/feature_table.hpp"
#include "learn/kinetic_tournament.hpp"
#include "learn/level_lists.hpp"
#include "learn/score_line.hpp"

namespace fsstream {

// What B-ARDA remembers of a feature.
struct DualRecord {
  Key key = 0;
  double sum = 0.0;      // of the sub-gradients
  double squares = 0.0;  // of the sub-gradients
  ScoreLine line;        // follows from the two
  Slot seat = kNobody;   // among the members or the contenders
  Level level = 0;       // of the list it is in; or:
  static constexpr Level kMember = -1, kContender = -2;
};

class BudgetOrder {
 public:
  using Table = FeatureTable<DualRecord>;

  BudgetOrder(Table& table, std::size_t budget, bool drifts, bool crowded)
      : table_(table),
        budget_(budget),
        drifts_(drifts),
        crowded_(crowded),
        members_({&table, drifts ? nullptr : &scores_}),
        contenders_({&table, drifts ? nullptr : &scores_}),
        leavers_({&table, drifts ? nullptr : &scores_}) {}

  // For a table of this capacity, with as many contenders as there are now.
  std::size_t bytes(std::size_t capacity) const {
    const std::size_t seats = std::min(budget_, capacity);
    return Weakest::bytes(seats) + seats * sizeof(Slot) + LevelLists::bytes(capacity) +
           Strongest::bytes(contenders_.leaves()) + contenders_.leaves() * sizeof(Slot) + capacity / 8 +
           (drifts_ ? 0 : capacity * sizeof(double)) + (crowded_ ? Weakest::bytes(capacity) : 0);
  }
  const Buffer<Slot>& members() const { return seats_; }
  // Asked of every entry of a row, kNobody's among them: without a look at its record, and without a branch.
  bool is_member(Slot slot) const {
    const bool inside = slot / 64 < is_member_.size();
    return (is_member_[inside ? slot / 64 : 0] >> (slot % 64) & std::uint64_t{inside}) != 0;
  }

  void reserve() {
    members_.grow(std::min(budget_, table_.capacity()));
    contenders_.reserve(table_.capacity());
    free_.reserve(table_.capacity());
    rest_.reserve(table_.capacity());
    if (!drifts_) scores_.reserve(table_.capacity());
    const std::size_t words = table_.capacity() / 64 + 1;
    is_member_.reserve(words);
    while (is_member_.size() < words) is_member_.push_back(0);
    if (crowded_) leavers_.grow(table_.capacity());
  }

  void advance(double tau) {
    tau_ = tau;
    members_.advance(tau);
    contenders_.advance(tau);
    leavers_.advance(tau);
  }

  // A slot new in the table: a member while there is room.
  void enter(Slot slot) {
    score_anew(slot);
    if (seats_.size() < budget_) {
      seats_.push_back(slot);
      take_members_seat(slot, static_cast<Slot>(seats_.size() - 1));
    } else {
      file(slot, level_now(slot));
      if (crowded_) place(leavers_, slot, slot);
    }
  }

  // The outsider that a crowded table can spare.
  Slot weakest_outsider() const { return leavers_.winner(); }

  // The slot's line has changed.
  void touch_member(Slot slot) {
    score_anew(slot);
    place(members_, table_[slot].seat, slot);
  }
  void touch_outsider(Slot slot) {
    score_anew(slot);
    if (crowded_) place(leavers_, slot, slot);
    const DualRecord& touched = table_[slot];
    const Level level = level_now(slot);
    if (touched.level == DualRecord::kContender) {
      if (level > bar_) {
        place(contenders_, touched.seat, slot);
      } else {
        give_up_seat(touched.seat);
        file(slot, level);
      }
    } else if (level > touched.level) {
      rest_.take_out(slot, touched.level);
      file(slot, level);
    }
  }

  // Many touches are to come: the tournaments are held at their end, by rebuild().
  void defer() { deferred_ = true; }
  void rebuild() {
    deferred_ = false;
    members_.rebuild();
    contenders_.rebuild();
    leavers_.rebuild();
  }

  void settle() {
    for (;;) {
      const Slot falling = members_.winner();
      if (falling == kNobody || seats_.size() < budget_) return;
      const Level level = level_now(falling);
      const Slot rising = contenders_.winner();
      if (level <= bar_ && (rising == kNobody || level_now(rising) <= bar_)) {
        open();
      } else if (rising == kNobody || stronger_slot(table_, falling, rising, tau_)) {
        bar_ = std::max(bar_, static_cast<Level>(level - 1));
        return;
      } else {
        exchange(rising, falling);
      }
    }
  }

 private:
  static bool stronger_slot(const Table& table, Slot i, Slot j, double tau) {
    return stronger(table[i].line, table[i].key, table[j].line, table[j].key, tau);
  }

  // The stronger slot wins, or the weaker one. Scores that do not drift are compared as they stand.
  template <bool kUp>
  struct ByScore {
    static constexpr bool kDrifts = true;
    const Table* table;
    const Buffer<double>* scores;  // null where they drift

    Judgement judge(Slot i, Slot j, double tau) const {
      if (scores != nullptr && (*scores)[i] != (*scores)[j]) return {((*scores)[i] > (*scores)[j]) == kUp};
      const DualRecord& a = (*table)[i];
      const DualRecord& b = (*table)[j];
      if (scores != nullptr) return {(a.key < b.key) == kUp};
      const Comparison found = compared(a.line, a.key, b.line, b.key, tau);
      return {found.first_stronger == kUp, found.until};
    }
  };
  using Strongest = KineticTournament<ByScore<true>>;
  using Weakest = KineticTournament<ByScore<false>>;

  Level level_now(Slot slot) const { return level_of(drifts_ ? table_[slot].line.score(tau_) : scores_[slot]); }

  void score_anew(Slot slot) {
    if (!drifts_) scores_[slot] = table_[slot].line.score(tau_);
  }

  template <class Tournament>
  void place(Tournament& tournament, Slot leaf, Slot slot) {
    if (deferred_)
      tournament.seat(leaf, slot);
    else
      tournament.place(leaf, slot);
  }

  // An outsider that is nowhere yet.
  void file(Slot slot, Level level) {
    if (level > bar_) {
      contend(slot);
    } else {
      table_[slot].level = level;
      rest_.put(slot, level);
    }
  }

  void contend(Slot slot) {
    const auto seat = free_.empty() ? contenders_held_++ : free_.back();
    if (!free_.empty()) free_.set_size(free_.size() - 1);
    contenders_.grow(contenders_held_);
    take_contenders_seat(slot, seat);
  }

  void take_contenders_seat(Slot slot, Slot seat) {
    table_[slot].level = DualRecord::kContender;
    table_[slot].seat = seat;
    place(contenders_, seat, slot);
  }

  static std::uint64_t bit_of(Slot slot) { return std::uint64_t{1} << (slot % 64); }

  void take_members_seat(Slot slot, Slot seat) {
    table_[slot].level = DualRecord::kMember;
    table_[slot].seat = seat;
    seats_[seat] = slot;
    is_member_[slot / 64] |= bit_of(slot);
    place(members_, seat, slot);
  }

  void give_up_seat(Slot seat) {
    free_.push_back(seat);
    place(contenders_, seat, kNobody);
  }

  // Who stands above the new bar contends.
  void open() {
    const Level level = bar_--;
    rest_.open(level, [&](Slot slot) { file(slot, level_now(slot)); });
  }

  void exchange(Slot rising, Slot falling) {
    const Slot seat = table_[falling].seat;
    const Slot left = table_[rising].seat;
    is_member_[falling / 64] &= ~bit_of(falling);
    take_members_seat(rising, seat);
    const Level level = level_now(falling);
    if (level > bar_) {
      take_contenders_seat(falling, left);
    } else {
      give_up_seat(left);
      file(falling, level);
    }
    if (!crowded_) return;
    leavers_.place(rising, kNobody);
    leavers_.place(falling, falling);
  }

  Table& table_;
  std::size_t budget_;
  bool drifts_;
  bool crowded_;
  double tau_ = 0.0;
  bool deferred_ = false;
  Level bar_ = kLevels - 1;          // until the first settle()
  Buffer<Slot> seats_;               // slot of each member
  Buffer<std::uint64_t> is_member_;  // a bit for each slot
  Buffer<double> scores_;            // of each slot, where they do not drift: side by side, without a record's rest
  Slot contenders_held_ = 0;         // seats of contenders in use or free
  Buffer<Slot> free_;                // those that are free
  Weakest members_;
  Strongest contenders_;
  LevelLists rest_;
  Weakest leavers_;  // all outsiders once more, when crowded
};

}  // namespace fsstream

// Slots filed by level: a list each, so that a slot is put and taken out at once, and a level
// is opened at the cost of what lies there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/buffer.hpp"
#include "learn/slot.hpp"

namespace fsstream {

// Of a score from 0 on, four to a power of two: 2^-32 and less is level 0, 2^32 and more the last.
// Never falls as the score rises.
using Level = std::int16_t;
inline constexpr Level kLevels = 256;
inline Level level_of(double score) {
  constexpr std::int64_t kLowest = (1023 - 32) * 4;  // exponent's bits and two behind them, of 2^-32
  const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(score) >> 50);
  return static_cast<Level>(std::clamp<std::int64_t>(bits - kLowest, 0, kLevels - 1));
}

class LevelLists {
 public:
  static std::size_t bytes(std::size_t slots) { return slots * sizeof(Links) + kLevels * sizeof(Slot); }

  void reserve(std::size_t slots) {
    links_.reserve(slots);
    if (!heads_.empty()) return;
    heads_.reserve(kLevels);
    heads_.set_size(kLevels);
    std::fill(heads_.begin(), heads_.end(), kNobody);
  }

  void put(Slot slot, Level level) {
    const Slot next = heads_[level];
    links_[slot] = {kNobody, next};
    if (next != kNobody) links_[next].previous = slot;
    heads_[level] = slot;
  }

  void take_out(Slot slot, Level level) {
    const Links at = links_[slot];
    (at.previous == kNobody ? heads_[level] : links_[at.previous].next) = at.next;
    if (at.next != kNobody) links_[at.next].previous = at.previous;
  }

  // Empties a level; visit(slot) may put the slot elsewhere.
  template <class Visit>
  void open(Level level, Visit visit) {
    Slot slot = heads_[level];
    heads_[level] = kNobody;
    while (slot != kNobody) {
      const Slot next = links_[slot].next;
      visit(slot);
      slot = next;
    }
  }

 private:
  struct Links {
    Slot previous, next;
  };

  Buffer<Slot> heads_;   // of each level
  Buffer<Links> links_;  // of each slot; in use where the slot is filed
};

}  // namespace fsstream

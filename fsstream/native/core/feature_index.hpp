// FeatureIndex: key -> dense number in order of first appearance. Open addressing, linear
// probing, at most 7 slots of 10 taken; 16 bytes a slot, so that a probe costs one cache miss.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/ask.hpp"
#include "core/batch.hpp"
#include "core/pages.hpp"
#include "hash/mix.hpp"

namespace fsstream {

class FeatureIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit FeatureIndex(std::size_t slots = 64) : slots_(slots), mask_(slots - 1) {}

  std::size_t size() const { return size_; }
  std::size_t slots() const { return slots_.size(); }
  static constexpr std::size_t bytes_of(std::size_t slots) { return slots * sizeof(Slot); }
  // The next insertion of a new key doubles the slots.
  bool full() const { return (size_ + 1) * 10 > slots() * 7; }

  std::uint32_t find(Key key) const { return slots_[place(key)].next - 1; }

  std::uint32_t insert(Key key) {
    std::size_t s = place(key);
    if (slots_[s].next != 0) return slots_[s].next - 1;
    if (full()) {
      grow();
      s = place(key);
    }
    slots_[s] = {key, static_cast<std::uint32_t>(size_ + 1)};
    return static_cast<std::uint32_t>(size_++);
  }

  // Number n becomes numbers[n].
  void renumber(std::span<const std::uint32_t> numbers) {
    for (Slot& slot : slots_.span())
      if (slot.next != 0) slot.next = numbers[slot.next - 1] + 1;
  }

  void prefetch(Key key) const { ask_to_read(&slots_[mix64(key) & mask_]); }

 private:
  struct Slot {
    Key key;
    std::uint32_t next;  // the number + 1; 0: free
  };

  // The slot that holds the key, or the free one where it belongs.
  std::size_t place(Key key) const {
    std::size_t s = mix64(key) & mask_;
    while (slots_[s].next != 0 && slots_[s].key != key) s = (s + 1) & mask_;
    return s;
  }

  void grow() {
    FeatureIndex larger(2 * slots());
    for (const Slot& slot : slots_.span())
      if (slot.next != 0) larger.slots_[larger.place(slot.key)] = slot;
    std::swap(slots_, larger.slots_);
    mask_ = larger.mask_;
  }

  Pages<Slot> slots_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace fsstream

// FeatureIndex: key -> dense number in order of first appearance. Open addressing, linear
// probing, at most 7 slots of 10 taken; 12 bytes a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batch.hpp"
#include "hash/mix.hpp"

namespace fsstream {

class FeatureIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit FeatureIndex(std::size_t slots = 64) : keys_(slots), numbers_(slots, kNone), mask_(slots - 1) {}

  std::size_t size() const { return size_; }
  std::size_t slots() const { return numbers_.size(); }
  static constexpr std::size_t bytes_of(std::size_t slots) { return slots * 12; }
  // The next insertion of a new key doubles the slots.
  bool full() const { return (size_ + 1) * 10 > slots() * 7; }

  std::uint32_t find(Key key) const {
    for (std::size_t s = mix64(key) & mask_;; s = (s + 1) & mask_) {
      if (numbers_[s] == kNone) return kNone;
      if (keys_[s] == key) return numbers_[s];
    }
  }

  std::uint32_t insert(Key key) {
    std::size_t s = mix64(key) & mask_;
    for (; numbers_[s] != kNone; s = (s + 1) & mask_)
      if (keys_[s] == key) return numbers_[s];
    if (full()) {
      grow();
      for (s = mix64(key) & mask_; numbers_[s] != kNone; s = (s + 1) & mask_) {
      }
    }
    keys_[s] = key;
    return numbers_[s] = static_cast<std::uint32_t>(size_++);
  }

  // visit(key, number), in no meaningful order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t s = 0; s < numbers_.size(); ++s)
      if (numbers_[s] != kNone) visit(keys_[s], numbers_[s]);
  }

  void prefetch(Key key) const {
    const std::size_t s = mix64(key) & mask_;
    __builtin_prefetch(&numbers_[s]);
    __builtin_prefetch(&keys_[s]);
  }

 private:
  void grow() {
    FeatureIndex larger(2 * slots());
    for_each([&](Key key, std::uint32_t number) {
      std::size_t s = mix64(key) & larger.mask_;
      while (larger.numbers_[s] != kNone) s = (s + 1) & larger.mask_;
      larger.keys_[s] = key;
      larger.numbers_[s] = number;
    });
    keys_.swap(larger.keys_);
    numbers_.swap(larger.numbers_);
    mask_ = larger.mask_;
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> numbers_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace fsstream

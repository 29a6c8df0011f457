// KeySet: whether a hash was seen before since the last clear(). A table that is emptied by
// counting up an epoch, so that clearing after every record costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsstream {

class KeySet {
 public:
  void clear() {
    size_ = 0;
    if (++epoch_ == 0) {
      slots_.assign(slots_.size(), {});
      epoch_ = 1;
    }
  }

  // True when the hash was not in the set; now it is.
  bool insert(std::uint64_t hash) {
    if (2 * size_ >= slots_.size()) grow();
    for (std::size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].epoch != epoch_) {
        slots_[slot] = {hash, epoch_};
        ++size_;
        return true;
      }
      if (slots_[slot].hash == hash) return false;
    }
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t epoch = 0;
  };

  void grow() {
    std::vector<Slot> before = std::move(slots_);
    slots_ = std::vector<Slot>(before.empty() ? 64 : 2 * before.size());
    size_ = 0;
    for (const Slot& slot : before)
      if (slot.epoch == epoch_) insert(slot.hash);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace fsstream

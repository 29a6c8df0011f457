// Features by key: one record each, found through an open table of slots.
//
//   index_    [power of two, at most half full]  slot of a record, or kNobody
//   records_  [slots in use, in order of first sight]; Record has a member `Key key`
//
// A probe reads 4 bytes, then the record that the caller wants anyway. Erasing shifts the
// probe chain back (no tombstones) and leaves the slot to the caller for the next key.
// reserve() is called between rows, so that add() and replace() never allocate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "hash/mix.hpp"
#include "learn/kinetic_tournament.hpp"

namespace fsstream {

template <class Record>
class FeatureTable {
 public:
  std::size_t size() const { return records_.size(); }
  Record& operator[](Slot slot) { return records_[slot]; }
  const Record& operator[](Slot slot) const { return records_[slot]; }
  std::size_t capacity() const { return records_.capacity(); }
  // Records beyond size() are address space, not memory.
  std::size_t bytes() const { return size() * sizeof(Record) + index_.size() * sizeof(Slot); }
  // The same once so many records are there.
  std::size_t bytes_with(std::size_t records) const {
    return records * sizeof(Record) + 2 * capacity_for(records) * sizeof(Slot);
  }
  std::size_t capacity_for(std::size_t records) const {
    std::size_t wider = std::max<std::size_t>(capacity(), 16);
    while (wider < records) wider *= 2;
    return wider;
  }

  void reserve(std::size_t records) {
    if (records <= capacity()) return;
    const std::size_t wider = capacity_for(records);
    records_.reserve(wider);
    index_ = Buffer<Slot>();  // the old one goes first
    index_.reserve(2 * wider);
    index_.set_size(2 * wider);
    std::fill(index_.begin(), index_.end(), kNobody);
    for (Slot slot = 0; slot < records_.size(); ++slot) index_[free_cell(records_[slot].key)] = slot;
  }

  Slot find(Key key) const { return index_.empty() ? kNobody : find_from(home(key), key); }

  // The slots of a row's keys: all cells are asked for before the first is read.
  void find_all(const Key* keys, std::size_t count, Slot* found) {
    if (index_.empty()) {
      std::fill_n(found, count, kNobody);
      return;
    }
    homes_.reserve(count);
    for (std::size_t j = 0; j < count; ++j) {
      homes_[j] = home(keys[j]);
      __builtin_prefetch(index_.data() + homes_[j]);
    }
    for (std::size_t j = 0; j < count; ++j) found[j] = find_from(homes_[j], keys[j]);
  }

  // A record for a key that is not there yet; room has been reserved.
  Slot add(const Record& record) {
    const auto slot = static_cast<Slot>(records_.size());
    records_.push_back(record);
    index_[free_cell(record.key)] = slot;
    return slot;
  }

  // Gives the slot of one key to the record of another.
  void replace(Slot slot, const Record& record) {
    erase(records_[slot].key);
    records_[slot] = record;
    index_[free_cell(record.key)] = slot;
  }

 private:
  std::size_t home(Key key) const { return mix64(key) & (index_.size() - 1); }
  std::size_t next(std::size_t cell) const { return (cell + 1) & (index_.size() - 1); }

  Slot find_from(std::size_t cell, Key key) const {
    for (;; cell = next(cell)) {
      const Slot slot = index_[cell];
      if (slot == kNobody || records_[slot].key == key) return slot;
    }
  }

  std::size_t free_cell(Key key) const {
    std::size_t cell = home(key);
    while (index_[cell] != kNobody) cell = next(cell);
    return cell;
  }

  void erase(Key key) {
    std::size_t hole = home(key);
    while (records_[index_[hole]].key != key) hole = next(hole);
    for (std::size_t cell = next(hole); index_[cell] != kNobody; cell = next(cell)) {
      const std::size_t wish = home(records_[index_[cell]].key);
      // Moves back what may stand in the hole: its home is not between hole and cell.
      if (((cell - wish) & (index_.size() - 1)) < ((cell - hole) & (index_.size() - 1))) continue;
      index_[hole] = index_[cell];
      hole = cell;
    }
    index_[hole] = kNobody;
  }

  Buffer<Record> records_;
  Buffer<Slot> index_;
  Buffer<std::size_t> homes_;  // of the keys of find_all()
};

}  // namespace fsstream

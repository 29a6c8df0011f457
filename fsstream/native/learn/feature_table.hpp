// Features by key: one record each, found through an open table of slots.
//
//   index_    [power of two]  slot of a record, or kNobody
//   records_  [slots in use, in order of first sight]; Record has a member `Key key`
//
// The bits that slots leave over in an open table's cells tell some of the key's hash: the records
// of other keys are hardly ever read on the way.
//
// While all keys are small numbers (`direct_`), the cell of a key is the key itself: nothing is
// hashed, probed or compared. The first key of kDirect times the capacity or more turns the same
// cells into an open table (at most a quarter full); growing looks at the keys again, and
// leaves a table of hashed keys half full at most.
// A probe reads 4 bytes, and the record that the caller wants anyway. Erasing shifts the
// probe chain back (no tombstones) and leaves the slot to the caller for the next key.
// reserve() is called between rows, so that add() and replace() never allocate.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/ask.hpp"
#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "hash/mix.hpp"
#include "learn/slot.hpp"

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
    const std::size_t cells = records <= capacity() ? index_.size() : cells_for(capacity_for(records));
    return records * sizeof(Record) + cells * sizeof(Slot);
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
    direct_ = largest_ < kDirect * wider;
    index_.reserve(cells_for(wider));
    index_.set_size(cells_for(wider));
    // One more than the largest slot fits in: a cell in use is never kNobody.
    slot_mask_ = static_cast<Slot>((std::uint64_t{2} << std::bit_width(wider - 1)) - 1);
    file_all();
  }

  Slot find(Key key) const {
    if (direct_) return direct_slot(key);
    return find_hashed(mix64(key), key);
  }

  // The key will be looked for soon.
  void ask_for(Key key) const {
    if (!direct_) ask_to_read(index_.data() + home(mix64(key)));
  }

  // The slots of a row's keys: all cells are asked for before the first is read.
  void find_all(const Key* keys, std::size_t count, Slot* found) {
    if (direct_) {
      const std::span<const Slot> cells = std::as_const(index_).span();
      for (std::size_t j = 0; j < count; ++j) found[j] = keys[j] < cells.size() ? cells[keys[j]] : kNobody;
      return;
    }
    hashes_.reserve(count);
    for (std::size_t j = 0; j < count; ++j) {
      hashes_[j] = mix64(keys[j]);
      ask_to_read(index_.data() + home(hashes_[j]));
    }
    for (std::size_t j = 0; j < count; ++j) found[j] = find_hashed(hashes_[j], keys[j]);
  }

  // A record for a key that is not there yet; room has been reserved.
  Slot add(const Record& record) {
    const auto slot = static_cast<Slot>(records_.size());
    records_.push_back(record);
    file(slot, record.key);
    return slot;
  }

  // No records, and room for as many as before.
  void clear() {
    records_.clear();
    std::fill(index_.begin(), index_.end(), kNobody);
  }

  // Gives the slot of one key to the record of another.
  void replace(Slot slot, const Record& record) {
    erase(records_[slot].key);
    records_[slot] = record;
    file(slot, record.key);
  }

 private:
  static constexpr std::size_t kDirect = 4, kHashed = 2;  // cells for each record there is room for

  std::size_t cells_for(std::size_t capacity) const {
    return (largest_ < kDirect * capacity ? kDirect : kHashed) * capacity;
  }
  Slot direct_slot(Key key) const { return key < index_.size() ? index_[key] : kNobody; }

  // A record that has its slot gets its cell.
  void file(Slot slot, Key key) {
    largest_ = std::max(largest_, key);
    if (direct_ && key >= index_.size()) {
      direct_ = false;
      file_all();
    } else {
      put(slot, key);
    }
  }

  void file_all() {
    std::fill(index_.begin(), index_.end(), kNobody);
    for (Slot slot = 0; slot < records_.size(); ++slot) put(slot, records_[slot].key);
  }

  void put(Slot slot, Key key) {
    if (direct_) {
      index_[static_cast<std::size_t>(key)] = slot;
      return;
    }
    const std::uint64_t hash = mix64(key);
    std::size_t cell = home(hash);
    while (index_[cell] != kNobody) cell = next(cell);
    index_[cell] = slot | tag(hash);
  }

  std::size_t home(std::uint64_t hash) const { return hash & (index_.size() - 1); }
  std::size_t next(std::size_t cell) const { return (cell + 1) & (index_.size() - 1); }
  Slot tag(std::uint64_t hash) const { return static_cast<Slot>(hash >> 32) & ~slot_mask_; }
  Slot slot_in(std::size_t cell) const { return index_[cell] & slot_mask_; }

  Slot find_hashed(std::uint64_t hash, Key key) const {
    const Slot wanted = tag(hash);
    for (std::size_t cell = home(hash);; cell = next(cell)) {
      const Slot found = index_[cell];
      if (found == kNobody) return kNobody;
      if ((found & ~slot_mask_) == wanted && records_[found & slot_mask_].key == key) return found & slot_mask_;
    }
  }

  void erase(Key key) {
    if (direct_) {
      index_[key] = kNobody;
      return;
    }
    std::size_t hole = home(mix64(key));
    while (records_[slot_in(hole)].key != key) hole = next(hole);
    for (std::size_t cell = next(hole); index_[cell] != kNobody; cell = next(cell)) {
      const std::size_t wish = home(mix64(records_[slot_in(cell)].key));
      // Moves back what may stand in the hole: its home is not between hole and cell.
      if (((cell - wish) & (index_.size() - 1)) < ((cell - hole) & (index_.size() - 1))) continue;
      index_[hole] = index_[cell];
      hole = cell;
    }
    index_[hole] = kNobody;
  }

  Buffer<Record> records_;
  Buffer<Slot> index_;
  bool direct_ = true;
  Slot slot_mask_ = 0;            // bits of an open table's cells that are the slot
  Key largest_ = 0;               // of all keys that were here
  Buffer<std::uint64_t> hashes_;  // of the keys of find_all()
};

}  // namespace fsstream

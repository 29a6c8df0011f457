// RowMerge: adds up the entries of a row that have one key, so that each key occurs once.
//
// The first occurrence keeps its place and its name; one of another name with the same key is a collision, and
// is counted. Sums are taken in float64, in the order
// of the row, and rounded once: counts are exact as far as float32 can tell them.
//
//   slots_[hash of the key] = stamp of the entry that has it
//   marks_[hash of the key] = number of the row that has it: tells most rows without repeats
//
// Stamps only grow, so what former rows left behind reads as empty and nothing is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

class RowMerge {
 public:
  // Treats the entries behind the last ended row of the batch. False when a sum is beyond float32.
  bool merge(Batch& batch);

 private:
  void prepare(std::size_t entries, std::size_t slots);
  bool all_differ(const Key* keys, std::size_t count);
  // The place among keys[0 .. count) that has the key, or `count`, which then has it from now on.
  std::size_t place(const Key* keys, std::size_t count, Key key);
  bool add_up(Batch& batch, std::size_t begin, std::size_t repeated);

  Buffer<std::uint32_t> slots_;
  Buffer<double> sums_;
  std::vector<std::uint16_t> marks_;
  std::uint32_t stamp_ = 0;      // all stamps in slots_ are at most this
  std::uint32_t stamp_end_ = 0;  // the largest stamp this row may use
  unsigned shift_ = 0;           // 64 - log2 of the number of slots in use
  std::uint16_t mark_ = 0;       // of the last row in marks_
  bool repeats_ = false;         // the last row had a key twice: the next one may as well
};

}  // namespace fsstream

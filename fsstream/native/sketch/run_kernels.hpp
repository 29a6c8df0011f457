// What is looked up for a run of rows at once, and taken apart row by row.
//
// Like row_kernels.hpp: once in plain C++, once for AVX-512, the same from both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sketch/block_kernels.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

// Entries of a run: keys, and where each lies in a sketch and in an active set (its bits are its home).
struct RunEntries {
  const std::uint64_t* keys;
  BlockRows places;
};

// A row's entries: slots as look_up found them, and the columns that are parted by them.
struct RowEntries {
  const std::uint32_t* slots;
  const std::uint32_t* places;
  const std::uint32_t* homes;
  const float* values;
};

// Entries whose keys are in a set, with their slots, and those whose keys are not.
struct PartedRow {
  std::uint32_t* slots;
  std::uint32_t* present;
  float* present_values;
  std::uint32_t* absent;
  float* absent_values;
  std::uint32_t* absent_places;
  std::uint32_t* absent_homes;
};

struct RunKernels {
  // slots[j] = the slot of key j, or kNone. Asks memory for what is read of each entry next: the numbers in
  // its slot, or its block. Uses `maybe` for a list of entries.
  void (*look_up)(const KeyBuckets& buckets, const RunEntries& run, std::size_t count, std::uint32_t* maybe,
                  std::uint32_t* slots);
  // slots[j] = slot where keys[j] is the key.
  void (*mark)(const std::uint64_t* keys, std::size_t count, std::uint64_t key, std::uint32_t slot,
               std::uint32_t* slots);
  // Parts the entries that have a slot from those that have none, in order; returns how many have.
  std::size_t (*part_row)(const RowEntries& row, std::size_t count, const PartedRow& out);
};

const RunKernels& run_kernels();

// The two versions; the wide one is null where it was not compiled.
const RunKernels& portable_run_kernels();
const RunKernels* wide_run_kernels();

}  // namespace fsstream

// Asks the caches for what learning a run of entries will touch, while there is time: a look-up that
// misses waits for one cache line, many requests at once wait for all of them together.
//
// Nothing is read or decided here that a learner relies on. GCC takes a function of prefetches for one
// without effects and leaves its calls out; the empty asm keeps them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sketch/block_kernels.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

inline void warm_up_values(const float* values, std::size_t count) {
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t j = 0; j < count; j += kLine) __builtin_prefetch(values + j);
  asm volatile("" ::: "memory");
}

// Every cell of the entries.
inline void warm_up(const SketchRows& rows, int depth, std::size_t count) {
  for (int r = 0; r < depth; ++r) {
    const float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    for (std::size_t j = 0; j < count; ++j) __builtin_prefetch(cells + (places[j] & ~kSignBit));
  }
  asm volatile("" ::: "memory");
}

// The bucket of a key that may be active, the block of one that is not.
inline void warm_up(const KeyBuckets& buckets, const BlockRows& rows, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t home = rows.bits[j];
    const std::uint32_t bit = home >> buckets.filter_shift;
    const bool maybe = (buckets.filter[bit / 32] >> (bit % 32)) & 1U;
    const void* bucket = buckets.keys + std::size_t{home & buckets.mask} * KeyBuckets::kSize;
    const void* block = rows.cells + std::size_t{rows.blocks[j]} * kBlockFloats;
    __builtin_prefetch(maybe ? bucket : block);
  }
  asm volatile("" ::: "memory");
}

}  // namespace fsstream

#include "sketch/warm_up.hpp"

#include <cstdint>

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLane = 16;
constexpr std::size_t kLine = 64;

// GCC takes a function of nothing but prefetches for one without effects, and leaves out calls of it.
inline void keep() { asm volatile("" ::: "memory"); }

// Addresses of a lane first, in wide registers, then the requests.
void ask(const KeyBuckets& buckets, const BlockRows& rows, std::size_t count) {
  const auto keys = reinterpret_cast<std::uintptr_t>(buckets.keys);
  const auto cells = reinterpret_cast<std::uintptr_t>(rows.cells);
  for (std::size_t j = 0; j < count; j += kLane) {
    const std::size_t some = count - j < kLane ? count - j : kLane;
    std::uintptr_t lines[kLane];
    for (std::size_t i = 0; i < some; ++i) {
      const std::uint32_t home = rows.bits[j + i];
      const std::uint32_t bit = home >> buckets.filter_shift;
      const bool maybe = (buckets.filter[bit / 32] >> (bit % 32)) & 1U;
      const std::uintptr_t bucket = keys + std::uintptr_t{home & buckets.mask} * kLine;
      const std::uintptr_t block = cells + std::uintptr_t{rows.blocks[j + i]} * kLine;
      lines[i] = maybe ? bucket : block;
    }
    for (std::size_t i = 0; i < some; ++i) __builtin_prefetch(reinterpret_cast<const void*>(lines[i]));
  }
  keep();
}

static_assert(KeyBuckets::kSize * sizeof(std::uint64_t) == kLine && kBlockFloats * sizeof(float) == kLine);

}  // namespace

void warm_up_values(const float* values, std::size_t count) {
  for (std::size_t j = 0; j < count; j += kLine / sizeof(float)) __builtin_prefetch(values + j);
  keep();
}

void warm_up(const SketchRows& rows, int depth, std::size_t count) {
  for (int r = 0; r < depth; ++r) {
    const float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    for (std::size_t j = 0; j < count; ++j) __builtin_prefetch(cells + (places[j] & ~kSignBit));
  }
  keep();
}

void warm_up(const KeyBuckets& buckets, const BlockRows& rows, std::size_t count) {
  static const auto best = Compiled<&ask>::best();
  best(buckets, rows, count);
}

}  // namespace fsstream

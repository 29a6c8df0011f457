#include "sketch/warm_up.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLine = 64;

// GCC takes a function of nothing but prefetches for one without effects, and leaves out calls of it.
inline void keep() { asm volatile("" ::: "memory"); }

}  // namespace

void warm_up_values(const float* values, std::size_t count) {
  for (std::size_t j = 0; j < count; j += kLine / sizeof(float)) __builtin_prefetch(values + j);
  keep();
}

// Into the second cache: the first is too small for a run, and what is brought there is written back from it once more.
void warm_up(const SketchRows& rows, int depth, std::size_t count) {
  constexpr int kSecondCache = 2;
  for (int r = 0; r < depth; ++r) {
    const float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    for (std::size_t j = 0; j < count; ++j) __builtin_prefetch(cells + (places[j] & ~kSignBit), 0, kSecondCache);
  }
  keep();
}

}  // namespace fsstream

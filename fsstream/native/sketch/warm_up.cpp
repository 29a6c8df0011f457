#include "sketch/warm_up.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLine = 64;
// Bytes of a sketch that the caches hold. Kernels read many cells before they need the first: asking for them takes 2.7
// times what it saves at 3 MB, and half of what it saves at 48 MB.
constexpr std::size_t kStaysCached = std::size_t{8} << 20;

// GCC takes a function of nothing but prefetches for one without effects, and leaves out calls of it.
inline void keep() { asm volatile("" ::: "memory"); }

}  // namespace

void warm_up_values(const float* values, std::size_t count) {
  for (std::size_t j = 0; j < count; j += kLine / sizeof(float)) __builtin_prefetch(values + j);
  keep();
}

// Into the second cache: the first is too small for a run, and what is brought there is written back from it once more.
void warm_up(const SketchRows& rows, int depth, std::size_t count) {
  if (static_cast<std::size_t>(depth) * rows.width * sizeof(float) <= kStaysCached) return;
  constexpr int kSecondCache = 2;
  for (int r = 0; r < depth; ++r) {
    float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    asm("" : "+r"(cells));  // a register, not a sum that is made anew for each cell
#pragma GCC unroll 4
    for (std::size_t j = 0; j < count; ++j) __builtin_prefetch(&cell_at(cells, places[j]), 0, kSecondCache);
  }
  keep();
}

}  // namespace fsstream

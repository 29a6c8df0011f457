// The loops over a row's entries whose weights lie in a ClassSketch (sketch/class_sketch.hpp).
//
// In plain C++, compiled for several instruction sets, and the busiest one once more for AVX-512; the same
// bits from all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sketch/row_kernels.hpp"

namespace fsstream {

// Some entries' places, as in SketchRows, in cells of `lanes` floats.
struct ClassRows {
  float* cells;
  std::size_t width;
  std::size_t lanes;
  const std::uint32_t* columns;
  std::size_t stride;
  std::size_t known;  // entries that have places: those of rows to come say what to fetch ahead
};

// What a row adds to the cells of its entries, and what makes one of them a candidate.
struct ClassStep {
  const float* factors;     // by entry of the list
  const float* step;        // by lane
  const float* statures;    // by entry of the list
  const float* thresholds;  // by lane
};

struct ClassKernels {
  using Step = std::size_t (*)(const ClassRows& rows, const std::uint32_t* listed, std::size_t count,
                               const ClassStep& by, std::uint32_t* above, float* estimates);

  // estimates[i][lane] of entry listed[i]: the median of its signed cells.
  void (*estimate)(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, float* estimates);
  // Adds factors[i] * step[lane] to every cell of entry listed[i], times its sign there, and to
  // estimates[i][lane]; a factor of 0 leaves the entry alone.
  void (*add)(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, const float* factors,
              const float* step, float* estimates);
  // Both in one look at the cells: entry after entry, each is changed, then estimated. Where any
  // |estimate| * stature exceeds the lane's threshold, its place in the list goes to above[] and its estimates to
  // the next row of `estimates`; returns how many. Both arrays need room for one more than the list is long.
  Step step;
};

// `lanes` is 4, 8 or a multiple of 16.
const ClassKernels& class_kernels(int depth, std::size_t lanes);
// Null where it was not compiled.
ClassKernels::Step wide_class_step(int depth);

// For both versions; static, as wide_lanes.hpp says why.
namespace class_cells {

static constexpr std::size_t kLine = 16;      // floats of a cache line
static constexpr std::size_t kMost = 8;       // lines of a cell that are fetched ahead
static constexpr std::size_t kInFlight = 48;  // lines asked for before they are read

[[gnu::always_inline]] static inline float* at(const ClassRows& rows, std::size_t r, std::uint32_t place) {
  return rows.cells + (r * rows.width + (place & (kSignBit - 1))) * rows.lanes;
}

// How many entries ahead cells are fetched.
static inline std::size_t distance(std::size_t depth, std::size_t lanes) {
  const std::size_t lines = depth * ((lanes + kLine - 1) / kLine);
  return lines < kInFlight / 4 ? kInFlight / lines : 4;
}

template <int D>
[[gnu::always_inline]] static inline void fetch(const ClassRows& rows, std::size_t j) {
  const std::size_t end = rows.lanes < kMost * kLine ? rows.lanes : kMost * kLine;
  for (std::size_t r = 0; r < D; ++r) {
    const float* cell = at(rows, r, rows.columns[r * rows.stride + j]);
    for (std::size_t c = 0; c < end; c += kLine) __builtin_prefetch(cell + c);
  }
}

}  // namespace class_cells

}  // namespace fsstream

// The loops over a row's entries that learning spends its time in.
//
// Written once in plain C++ and once for AVX-512, where gathering, compressing and comparing
// eight keys at a time halve the work; chosen when the program starts. Both give the same
// bits: integer hashing, float32 cells, and sums in sixteen lanes of double that are folded
// in one order.
//
// Output arrays are written in whole registers: they need room for kSlack more elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsstream {

inline constexpr std::size_t kSlack = 16;
inline constexpr std::uint32_t kSignBit = std::uint32_t{1} << 31;  // of a place; the rest is the cell

// Some entries' places in a sketch: entry j of row r is at columns[r * stride + j]. Behind the last are kSlack more
// that are valid: wide kernels read the cells of sixteen.
struct SketchRows {
  float* cells;
  std::size_t width;
  const std::uint32_t* columns;
  std::size_t stride;
};

// The cells of a row of the sketch, in a register of their own: else an address is summed up anew for each cell.
[[gnu::always_inline]] inline float* cells_of(const SketchRows& rows, std::size_t row) {
  float* cells = rows.cells + row * rows.width;
  asm("" : "+r"(cells));
  return cells;
}

// The places in it of entry `first` and of those behind.
[[gnu::always_inline]] inline const std::uint32_t* places_of(const SketchRows& rows, std::size_t row,
                                                             std::size_t first) {
  return rows.columns + row * rows.stride + first;
}

// The cell of a place. Counted in bytes, where shifting drops the sign: one instruction less in loops that have few.
[[gnu::always_inline]] inline float& cell_at(float* cells, std::uint32_t place) {
  const std::uint32_t bytes = place << 2;
  return *reinterpret_cast<float*>(reinterpret_cast<char*>(cells) + bytes);
}

// Kernels for one depth of the sketch.
struct SketchKernels {
  // Words of `count` keys into depth + 1 columns; cells are masked to the width.
  void (*hash)(const std::uint64_t* keys, std::size_t count, const std::uint64_t* seeds, std::uint32_t cell_mask,
               std::uint32_t* columns, std::size_t stride);
  // estimates[j] = median of the entry's signed cells.
  void (*estimate)(const SketchRows& rows, std::size_t count, float* estimates);
  // The same, and the sum of estimates[j] * values[j] where |estimates[j]| > threshold.
  double (*score_above)(const SketchRows& rows, std::size_t count, const float* values, float threshold,
                        float* estimates);
  // Adds steps[j] to every cell of entry j, times its sign there.
  void (*add)(const SketchRows& rows, std::size_t count, const float* steps);
};

// Keys in buckets of eight, `used` of them from the left; a full bucket goes on in the next.
struct KeyBuckets {
  static constexpr std::uint32_t kSize = 8;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const std::uint64_t* keys;
  const std::uint8_t* used;
  std::uint32_t mask;  // number of buckets - 1
  // A bit for the top bits of every home that occurs: most absent keys are told by it alone,
  // in an eighth of the cache that the keys take.
  const std::uint32_t* filter;
  int filter_shift;
  // The numbers of slot s begin at numbers[s * stride].
  const float* numbers;
  std::uint32_t stride;

  bool may_hold(std::uint32_t home) const {
    const std::uint32_t bit = home >> filter_shift;
    return (filter[bit / 32] >> (bit % 32) & 1) != 0;
  }
};

struct RowKernels {
  // steps[j] = coefficient * values[j]; lists j where |weights[j] + steps[j]| > threshold.
  std::size_t (*step_above)(const float* weights, const float* values, std::size_t count, float coefficient,
                            float threshold, float* steps, std::uint32_t* listed);
  // slots[i] of keys[listed[i]], or kNone.
  void (*find_listed)(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                      const std::uint32_t* listed, std::size_t count, std::uint32_t* slots);
  // Lists the entries whose keys are there, with their slots, and those that are not; returns how many are.
  std::size_t (*split)(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                       std::size_t count, std::uint32_t* slots, std::uint32_t* present, std::uint32_t* absent);
  // Sum of table[slots[i] * stride] * values[i].
  double (*dot_slots)(const float* table, std::uint32_t stride, const std::uint32_t* slots, const float* values,
                      std::size_t count);
};

const SketchKernels& sketch_kernels(int depth);
const RowKernels& row_kernels();

// The two versions; the wide one is null where it was not compiled.
template <int D>
const SketchKernels& portable_sketch_kernels();
const RowKernels& portable_row_kernels();
const SketchKernels* wide_sketch_kernels(int depth);
const RowKernels* wide_row_kernels();

}  // namespace fsstream

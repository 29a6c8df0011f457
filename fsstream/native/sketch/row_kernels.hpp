// The loops over a row's entries that learning spends its time in.
//
// One source, compiled for several instruction sets and chosen when the program starts.
// All give the same bits: integer hashing, float32 cells, and sums in sixteen lanes of
// double that are folded in one order whatever the registers' width.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsstream {

// Some entries' places in a sketch: entry j of row r is at columns[r * stride + j].
struct SketchRows {
  float* cells;
  std::size_t width;
  const std::uint32_t* columns;
  std::size_t stride;
};

// Kernels for one depth of the sketch.
struct SketchKernels {
  // Words of `count` keys into depth + 1 columns; cells are masked to the width.
  void (*hash)(const std::uint64_t* keys, std::size_t count, const std::uint64_t* seeds, std::uint32_t cell_mask,
               std::uint32_t* columns, std::size_t stride);
  // estimates[j] = median of the entry's signed cells.
  void (*estimate)(const SketchRows& rows, std::size_t count, float* estimates);
  // Adds steps[j] to every cell of entry j, times its sign there.
  void (*add)(const SketchRows& rows, std::size_t count, const float* steps);
  // The same for the entries listed in `which` only, with steps[i] and estimates[i] of entry
  // which[i]; the estimates are from before.
  void (*add_listed)(const SketchRows& rows, const std::uint32_t* which, std::size_t count, const float* steps,
                     float* estimates);
};

struct RowKernels {
  // Sum of weights[j] * values[j] where |weights[j]| > threshold.
  double (*dot_above)(const float* weights, const float* values, std::size_t count, float threshold);
  // steps[j] = coefficient * values[j]; lists j where |weights[j] + steps[j]| > threshold.
  std::size_t (*step_above)(const float* weights, const float* values, std::size_t count, float coefficient,
                            float threshold, float* steps, std::uint32_t* listed);
};

const SketchKernels& sketch_kernels(int depth);
const RowKernels& row_kernels();

}  // namespace fsstream

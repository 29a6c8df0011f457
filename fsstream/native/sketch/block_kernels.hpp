// The loops over a row's entries whose weights lie in a BlockSketch (sketch/block_sketch.hpp).
//
// Like row_kernels.hpp: once in plain C++, once for AVX-512, the same bits from both.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sketch/row_kernels.hpp"

namespace fsstream {

inline constexpr unsigned kBlockFloats = 16;

// Where the numbers of a key lie in a block. The bits say it, row after row: a cell of the
// row's part and a sign; then a pair of the last part.
template <int D>
struct BlockLayout {
  static constexpr unsigned kBlock = kBlockFloats;
  static constexpr unsigned kParts = std::bit_ceil(static_cast<unsigned>(D) + 1);
  static constexpr unsigned kCells = kBlock / kParts;  // of a part
  static constexpr unsigned kCellBits = std::countr_zero(kCells);
  static constexpr unsigned kRowBits = kCellBits + 1;
  static constexpr unsigned kPairs = kBlock - kCells;  // where the last part begins

  static constexpr std::uint32_t cell(std::uint32_t bits, unsigned row) {
    return row * kCells + ((bits >> (row * kRowBits)) & (kCells - 1));
  }
  static constexpr std::uint32_t sign(std::uint32_t bits, unsigned row) {
    return bits << (31 - (row * kRowBits + kCellBits)) & kSignBit;
  }
  static constexpr std::uint32_t pair(std::uint32_t bits) {
    return kPairs + 2 * ((bits >> (static_cast<unsigned>(D) * kRowBits)) & (kCells / 2 - 1));
  }
};

// Some entries' places: entry j has block blocks[j], and bits[j] say where in it.
struct BlockRows {
  float* cells;
  const std::uint32_t* blocks;
  const std::uint32_t* bits;
};

// Kernels for one depth.
struct BlockKernels {
  // blocks[j] = low half of the mixed key, masked; bits[j] = high half.
  void (*hash)(const std::uint64_t* keys, std::size_t count, std::uint64_t seed, std::uint32_t block_mask,
               std::uint32_t* blocks, std::uint32_t* bits);
  // estimates[j] = median of the entry's signed cells.
  void (*estimate)(const BlockRows& rows, std::size_t count, float* estimates);
  // Adds steps[j] to every cell of entry j, times its sign there.
  void (*add)(const BlockRows& rows, std::size_t count, const float* steps);
  // Both with the entries' pairs: what they are; and new ones, of two entries that share one the later entry's.
  void (*estimate_and_pairs)(const BlockRows& rows, std::size_t count, float* estimates, float* first, float* second);
  void (*add_and_set_pairs)(const BlockRows& rows, std::size_t count, const float* steps, const float* first,
                            const float* second);
};

const BlockKernels& block_kernels(int depth);

// The two versions; the wide one is null where it was not compiled.
template <int D>
const BlockKernels& portable_block_kernels();
const BlockKernels* wide_block_kernels(int depth);

}  // namespace fsstream

// block_kernels.cpp for AVX-512, compiled like row_kernels_avx512.cpp.
#include "sketch/block_kernels.hpp"

#if defined(__AVX512F__)
#include "sketch/by_depth.hpp"
#include "sketch/wide_lanes.hpp"

namespace fsstream {

namespace {

struct Places {
  __m512i blocks;  // first floats
  __m512i bits;
};

template <int D>
inline Places places_at(const BlockRows& rows, std::size_t j, __mmask16 lanes) {
  constexpr unsigned kShift = 4;
  static_assert(BlockLayout<D>::kBlock == 1U << kShift);
  return {_mm512_slli_epi32(_mm512_maskz_loadu_epi32(lanes, rows.blocks + j), kShift),
          _mm512_maskz_loadu_epi32(lanes, rows.bits + j)};
}

// The cell of row r within the block.
template <int D>
inline __m512i cell_of(__m512i bits, unsigned r) {
  using Layout = BlockLayout<D>;
  const __m512i chosen = _mm512_and_si512(_mm512_srli_epi32(bits, r * Layout::kRowBits), all(Layout::kCells - 1));
  return _mm512_add_epi32(chosen, all(r * Layout::kCells));
}

template <int D>
inline __m512i pair_of(const Places& at) {
  using Layout = BlockLayout<D>;
  const __m512i chosen = _mm512_and_si512(_mm512_srli_epi32(at.bits, static_cast<unsigned>(D) * Layout::kRowBits),
                                          all(Layout::kCells / 2 - 1));
  return _mm512_add_epi32(at.blocks, _mm512_add_epi32(_mm512_slli_epi32(chosen, 1), all(Layout::kPairs)));
}

template <int D>
void estimate(const BlockRows& rows, std::size_t count, float* estimates) {
  using Layout = BlockLayout<D>;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const Places at = places_at<D>(rows, j, lanes);
    __m512 seen[D];
    for (unsigned r = 0; r < D; ++r) {
      const __m512i cell = _mm512_add_epi32(at.blocks, cell_of<D>(at.bits, r));
      const __m512 found = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, cell, rows.cells, 4);
      const __m512i sign = _mm512_slli_epi32(at.bits, 31 - (r * Layout::kRowBits + Layout::kCellBits));
      seen[r] = _mm512_castsi512_ps(signed_by(_mm512_castps_si512(found), sign));
    }
    _mm512_mask_storeu_ps(estimates + j, lanes, median(seen));
  }
}

// A block at a time, as one register: where the signed step is added and where it is taken away.
template <int D>
void add(const BlockRows& rows, std::size_t count, const float* steps) {
  using Layout = BlockLayout<D>;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const std::size_t some = count - j < kWide ? count - j : kWide;
    const __m512i bits = places_at<D>(rows, j, lanes).bits;
    __m512i up = _mm512_setzero_si512();
    __m512i down = _mm512_setzero_si512();
    for (unsigned r = 0; r < D; ++r) {
      const __m512i cell = _mm512_sllv_epi32(all(1), cell_of<D>(bits, r));
      const __mmask16 negative = _mm512_test_epi32_mask(bits, all(1U << (r * Layout::kRowBits + Layout::kCellBits)));
      up = _mm512_mask_or_epi32(up, static_cast<__mmask16>(~negative), up, cell);
      down = _mm512_mask_or_epi32(down, negative, down, cell);
    }
    alignas(64) std::uint32_t added[kWide];
    alignas(64) std::uint32_t taken[kWide];
    _mm512_store_si512(added, up);
    _mm512_store_si512(taken, down);
    for (std::size_t i = 0; i < some; ++i) {
      float* block = rows.cells + std::size_t{rows.blocks[j + i]} * Layout::kBlock;
      const __m512 step = _mm512_set1_ps(steps[j + i]);
      __m512 after = _mm512_load_ps(block);
      after = _mm512_mask_add_ps(after, static_cast<__mmask16>(added[i]), after, step);
      after = _mm512_mask_sub_ps(after, static_cast<__mmask16>(taken[i]), after, step);
      _mm512_store_ps(block, after);
    }
  }
}

template <int D>
void pairs(const BlockRows& rows, std::size_t count, float* first, float* second) {
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, all(1));
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __m512i at = pair_of<D>(places_at<D>(rows, j, lanes));
    const __m512i none = _mm512_setzero_si512();
    const __m512 low = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(
        none, static_cast<__mmask8>(lanes), _mm512_castsi512_si256(at), rows.cells, sizeof(float)));
    const __m512 high = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(
        none, static_cast<__mmask8>(lanes >> 8), _mm512_extracti32x8_epi32(at, 1), rows.cells, sizeof(float)));
    _mm512_mask_storeu_ps(first + j, lanes, _mm512_permutex2var_ps(low, even, high));
    _mm512_mask_storeu_ps(second + j, lanes, _mm512_permutex2var_ps(low, odd, high));
  }
}

template <int D>
void set_pairs(const BlockRows& rows, std::size_t count, const float* first, const float* second) {
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const std::size_t some = count - j < kWide ? count - j : kWide;
    alignas(64) std::uint32_t at[kWide];
    _mm512_store_si512(at, pair_of<D>(places_at<D>(rows, j, lanes)));
    for (std::size_t i = 0; i < some; ++i) {
      rows.cells[at[i]] = first[j + i];
      rows.cells[at[i] + 1] = second[j + i];
    }
  }
}

template <int D>
const BlockKernels* wide_kernels() {
  static const BlockKernels kernels = {portable_block_kernels<D>().hash, &estimate<D>, &add<D>, &pairs<D>,
                                       &set_pairs<D>};
  return &kernels;
}

}  // namespace

const BlockKernels* wide_block_kernels(int depth) {
  return by_depth(depth, [](auto d) { return wide_kernels<d()>(); });
}

}  // namespace fsstream

#else

namespace fsstream {

const BlockKernels* wide_block_kernels(int) { return nullptr; }

}  // namespace fsstream

#endif

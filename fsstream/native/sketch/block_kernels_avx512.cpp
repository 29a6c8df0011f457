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
inline __m512 estimate_at(const Places& at, __mmask16 lanes, const float* cells) {
  using Layout = BlockLayout<D>;
  __m512 seen[D];
  for (unsigned r = 0; r < D; ++r) {
    const __m512i cell = _mm512_add_epi32(at.blocks, cell_of<D>(at.bits, r));
    const __m512 found = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, cell, cells, 4);
    const __m512i sign = _mm512_slli_epi32(at.bits, 31 - (r * Layout::kRowBits + Layout::kCellBits));
    seen[r] = _mm512_castsi512_ps(signed_by(_mm512_castps_si512(found), sign));
  }
  return median(seen);
}

template <int D>
void estimate(const BlockRows& rows, std::size_t count, float* estimates) {
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    _mm512_mask_storeu_ps(estimates + j, lanes, estimate_at<D>(places_at<D>(rows, j, lanes), lanes, rows.cells));
  }
}

inline __m512i pairs_at(const float* cells, __m256i first, __mmask8 lanes) {
  return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes, first, cells, sizeof(float));
}

template <int D>
void estimate_and_pairs(const BlockRows& rows, std::size_t count, float* estimates, float* first, float* second) {
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, all(1));
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const Places at = places_at<D>(rows, j, lanes);
    _mm512_mask_storeu_ps(estimates + j, lanes, estimate_at<D>(at, lanes, rows.cells));
    const __m512i pair = pair_of<D>(at);
    const __m512i low = pairs_at(rows.cells, _mm512_castsi512_si256(pair), static_cast<__mmask8>(lanes));
    const __m512i high = pairs_at(rows.cells, _mm512_extracti32x8_epi32(pair, 1), static_cast<__mmask8>(lanes >> 8));
    _mm512_mask_storeu_epi32(first + j, lanes, _mm512_permutex2var_epi32(low, even, high));
    _mm512_mask_storeu_epi32(second + j, lanes, _mm512_permutex2var_epi32(low, odd, high));
  }
}

// Of some entries, the floats of their blocks to which the step is added, and from which it is taken away.
struct Signs {
  alignas(64) std::uint32_t added[kWide];
  alignas(64) std::uint32_t taken[kWide];
};

template <int D>
inline void find_signs(__m512i bits, Signs& out) {
  using Layout = BlockLayout<D>;
  __m512i up = _mm512_setzero_si512();
  __m512i down = _mm512_setzero_si512();
  for (unsigned r = 0; r < D; ++r) {
    const __m512i cell = _mm512_sllv_epi32(all(1), cell_of<D>(bits, r));
    const __mmask16 negative = _mm512_test_epi32_mask(bits, all(1U << (r * Layout::kRowBits + Layout::kCellBits)));
    up = _mm512_mask_or_epi32(up, static_cast<__mmask16>(~negative), up, cell);
    down = _mm512_mask_or_epi32(down, negative, down, cell);
  }
  _mm512_store_si512(out.added, up);
  _mm512_store_si512(out.taken, down);
}

inline __m512 stepped(__m512 block, const Signs& signs, std::size_t i, float step) {
  const __m512 steps = _mm512_set1_ps(step);
  block = _mm512_mask_add_ps(block, static_cast<__mmask16>(signs.added[i]), block, steps);
  return _mm512_mask_sub_ps(block, static_cast<__mmask16>(signs.taken[i]), block, steps);
}

// A block at a time, as one register.
template <int D>
void add(const BlockRows& rows, std::size_t count, const float* steps) {
  for (std::size_t j = 0; j < count; j += kWide) {
    const std::size_t some = count - j < kWide ? count - j : kWide;
    Signs signs;
    find_signs<D>(places_at<D>(rows, j, lanes_left(count - j)).bits, signs);
    for (std::size_t i = 0; i < some; ++i) {
      float* block = rows.cells + std::size_t{rows.blocks[j + i]} * BlockLayout<D>::kBlock;
      _mm512_store_ps(block, stepped(_mm512_load_ps(block), signs, i, steps[j + i]));
    }
  }
}

template <int D>
void add_and_set_pairs(const BlockRows& rows, std::size_t count, const float* steps, const float* first,
                       const float* second) {
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const std::size_t some = count - j < kWide ? count - j : kWide;
    const Places at = places_at<D>(rows, j, lanes);
    Signs signs;
    find_signs<D>(at.bits, signs);
    alignas(64) std::uint32_t pair[kWide];  // the two floats of the block that are the entry's pair
    _mm512_store_si512(pair, _mm512_sllv_epi32(all(3), _mm512_sub_epi32(pair_of<D>(at), at.blocks)));
    for (std::size_t i = 0; i < some; ++i) {
      float* block = rows.cells + std::size_t{rows.blocks[j + i]} * BlockLayout<D>::kBlock;
      const __m128 both = _mm_unpacklo_ps(_mm_load_ss(first + j + i), _mm_load_ss(second + j + i));
      const __m512 moved = stepped(_mm512_load_ps(block), signs, i, steps[j + i]);
      const __m512 pairs = _mm512_castpd_ps(_mm512_broadcastsd_pd(_mm_castps_pd(both)));
      _mm512_store_ps(block, _mm512_mask_mov_ps(moved, static_cast<__mmask16>(pair[i]), pairs));
    }
  }
}

template <int D>
const BlockKernels* wide_kernels() {
  static const BlockKernels kernels = {portable_block_kernels<D>().hash, &estimate<D>, &add<D>, &estimate_and_pairs<D>,
                                       &add_and_set_pairs<D>};
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

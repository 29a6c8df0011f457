// What the files compiled for AVX-512 share. All of it is static: nothing compiled for a wide machine
// may be merged by the linker with what runs on a narrow one.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sketch/row_kernels.hpp"

namespace fsstream {

static constexpr std::size_t kWide = 16;

static inline __mmask16 lanes_left(std::size_t left) {
  return left >= kWide ? 0xffff : static_cast<__mmask16>((1U << left) - 1);
}

static inline __m512i all(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }

// j, j + 1, ...
static inline __m512i numbers_from(std::size_t j) {
  const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_add_epi32(iota, all(static_cast<std::uint32_t>(j)));
}

// Writes the chosen lanes side by side.
static inline void pack(void* to, __mmask16 chosen, __m512i from) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(chosen, from));
}

static inline __m512 median(const __m512 (&v)[1]) { return v[0]; }

static inline __m512 median(const __m512 (&v)[3]) {
  return _mm512_max_ps(_mm512_min_ps(v[0], v[1]), _mm512_min_ps(_mm512_max_ps(v[0], v[1]), v[2]));
}

template <int D>
static inline __m512 median(const __m512 (&unsorted)[D]) {
  __m512 v[D];
  std::memcpy(v, unsorted, sizeof v);
  for (int last = D - 1; last >= D / 2; --last)
    for (int i = 0; i < last; ++i) {
      const __m512 low = _mm512_min_ps(v[i], v[i + 1]);
      v[i + 1] = _mm512_max_ps(v[i], v[i + 1]);
      v[i] = low;
    }
  return v[D / 2];
}

// x ^ (place & sign), bit by bit.
static inline __m512i signed_by(__m512i x, __m512i place) {
  constexpr int kXorOfAnd = 0x78;  // the truth table of a ^ (b & c)
  return _mm512_ternarylogic_epi32(x, place, _mm512_set1_epi32(static_cast<int>(kSignBit)), kXorOfAnd);
}

}  // namespace fsstream

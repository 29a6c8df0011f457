// What the files compiled for AVX-512 share. All of it is static: nothing compiled for a wide machine
// may be merged by the linker with what runs on a narrow one.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "sketch/row_kernels.hpp"

namespace fsstream {

static constexpr std::size_t kWide = 16;

static inline __mmask16 lanes_left(std::size_t left) {
  return left >= kWide ? 0xffff : static_cast<__mmask16>((1U << left) - 1);
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

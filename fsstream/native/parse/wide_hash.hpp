// MurmurHash3 of eight names at a time, for what is compiled for AVX-512; static for the reason that wide_text.hpp
// gives. Equal to murmur3_64.
#pragma once

#include "hash/murmur3.hpp"
#include "parse/wide_text.hpp"

namespace fsstream {

// Of the blocks of sixteen bytes so far.
struct WideHash {
  __m512i h1;
  __m512i h2;
};

static inline WideHash no_hash() { return {_mm512_setzero_si512(), _mm512_setzero_si512()}; }

static inline __m512i times(__m512i a, std::uint64_t b) { return _mm512_mullo_epi64(a, all_words(b)); }
static inline __m512i folded(__m512i h) { return _mm512_xor_si512(h, _mm512_srli_epi64(h, 33)); }

static inline __m512i finished(__m512i h) {
  return folded(times(folded(times(folded(h), 0xff51afd7ed558ccdULL)), 0xc4ceb9fe1a85ec53ULL));
}

static inline __m512i scrambled1(__m512i k) {
  return times(_mm512_rol_epi64(times(k, murmur3::kC1), 31), murmur3::kC2);
}
static inline __m512i scrambled2(__m512i k) {
  return times(_mm512_rol_epi64(times(k, murmur3::kC2), 33), murmur3::kC1);
}

// With one more block, of two words.
static inline WideHash with_block(WideHash h, __m512i first, __m512i second) {
  const __m512i h1 = _mm512_rol_epi64(_mm512_xor_si512(h.h1, scrambled1(first)), 27);
  h.h1 = _mm512_add_epi64(times(_mm512_add_epi64(h1, h.h2), 5), all_words(0x52dce729));
  const __m512i h2 = _mm512_rol_epi64(_mm512_xor_si512(h.h2, scrambled2(second)), 31);
  h.h2 = _mm512_add_epi64(times(_mm512_add_epi64(h2, h.h1), 5), all_words(0x38495ab5));
  return h;
}

// With the up to 15 bytes that are left of names of these sizes, whatever stands behind those in the two words.
static inline __m512i ended(WideHash h, __m512i first, __m512i second, __m512i left, __m512i sizes) {
  const __m512i first_bits = _mm512_slli_epi64(_mm512_min_epu64(left, all_words(8)), 3);
  const __m512i second_bits = _mm512_sub_epi64(_mm512_slli_epi64(left, 3), first_bits);
  const auto cut = [](__m512i word, __m512i bits) {
    const __m512i kept = _mm512_srlv_epi64(all_words(~std::uint64_t{0}), _mm512_sub_epi64(all_words(64), bits));
    return _mm512_and_si512(word, kept);
  };
  __m512i h1 = _mm512_xor_si512(_mm512_xor_si512(h.h1, scrambled1(cut(first, first_bits))), sizes);
  __m512i h2 = _mm512_xor_si512(_mm512_xor_si512(h.h2, scrambled2(cut(second, second_bits))), sizes);
  h1 = _mm512_add_epi64(h1, h2);
  h2 = _mm512_add_epi64(h2, h1);
  return _mm512_add_epi64(finished(h1), finished(h2));
}

}  // namespace fsstream

// What the readers of plain text share that are compiled for AVX-512. All of it is static: nothing compiled for a
// wide machine may be merged by the linker with what runs on a narrow one.
//
// Bytes that matter are listed first, without a branch that hangs on how many there are in view: that would be
// mispredicted once a view. Numbers are then made of their digits, eight numbers at a time.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fsstream {

static constexpr std::size_t kView = 64;
static constexpr std::size_t kEight = 8;

static inline __m512i all_words(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

static inline std::uint64_t bytes_equal(__m512i bytes, char c) {
  return _cvtmask64_u64(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c)));
}

// White space, as isspace has it.
static inline std::uint64_t blanks_of(__m512i bytes) {
  const __m512i from_tab = _mm512_sub_epi8(bytes, _mm512_set1_epi8('\t'));
  return _cvtmask64_u64(_mm512_cmple_epu8_mask(from_tab, _mm512_set1_epi8('\r' - '\t'))) | bytes_equal(bytes, ' ');
}

// The bits in front of the first one; all where there is none.
static inline std::uint64_t below_first(std::uint64_t bits) { return ~bits & (bits - 1); }
// And that one.
static inline std::uint64_t up_to_first(std::uint64_t bits) { return bits ^ (bits - 1); }

// Appends where the bits of a view stand, counted from `offset` on. Writes up to 64 numbers.
static inline std::uint32_t* list_bits(std::uint64_t bits, std::uint32_t offset, std::uint32_t* out) {
  __m512i places = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(offset)),
                                    _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  for (unsigned quarter = 0; quarter < 4; ++quarter) {
    const auto here = static_cast<__mmask16>(bits >> (16 * quarter));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(here, places));
    out += __builtin_popcount(here);
    places = _mm512_add_epi32(places, _mm512_set1_epi32(16));
  }
  return out;
}

static inline std::uint64_t eight_bytes(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

static inline __mmask8 first_lanes(std::size_t count) {
  return count >= kEight ? 0xff : static_cast<__mmask8>((1U << count) - 1);
}

// Eight numbers of 0 to 255, one a byte.
static inline __m128i load_bytes(const std::uint8_t* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)); }

// The numbers that the last `counts` bytes of each word make; `odd` where these are not one to eight digits.
static inline __m512i numbers_of(__m512i words, __m512i counts, __mmask8& odd) {
  const __m512i kept =
      _mm512_sllv_epi64(all_words(~std::uint64_t{0}), _mm512_sub_epi64(all_words(64), _mm512_slli_epi64(counts, 3)));
  const __m512i digits = _mm512_and_si512(kept, _mm512_xor_si512(words, _mm512_set1_epi8('0')));
  const __m512i above_nine = _mm512_or_si512(digits, _mm512_add_epi8(digits, _mm512_set1_epi8(0x80 - 10)));
  odd = static_cast<__mmask8>(_mm512_test_epi64_mask(above_nine, _mm512_set1_epi8(static_cast<char>(0x80))) |
                              _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(counts, all_words(1)), all_words(7)));
  // Pairs of digits, pairs of those, then both halves; the first digit is the lowest byte.
  const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
  return _mm512_add_epi64(_mm512_mul_epu32(fours, all_words(10000)), _mm512_srli_epi64(fours, 32));
}

// numbers / 10^places of numbers below 10^15 and up to 15 places; `odd` where that takes more care. Float32 has all
// integers up to 2^24, and powers up to 10^8: there one division rounds once. Else float64 does, and is rounded once
// more as narrow() does it.
static inline __m256 scaled_down(__m512i numbers, __m512i places, __mmask8& odd) {
  const __m512d low_powers = _mm512_set_pd(1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1e0);
  const __m512d high_powers = _mm512_set_pd(1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8);
  const __m512d scale = _mm512_permutex2var_pd(low_powers, places, high_powers);
  const __m256 values = _mm256_div_ps(_mm512_cvtepi64_ps(numbers), _mm512_cvtpd_ps(scale));
  const auto large = static_cast<__mmask8>(_mm512_cmpgt_epu64_mask(numbers, all_words(std::uint64_t{1} << 24)) |
                                           _mm512_cmpgt_epu64_mask(places, all_words(8)));
  odd = 0;
  if (large == 0) return values;
  const __m512d exact = _mm512_div_pd(_mm512_cvtepi64_pd(numbers), scale);
  constexpr std::uint64_t kCutOff = (std::uint64_t{1} << 29) - 1;
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << 28;
  const __m512i cut =
      _mm512_and_si512(_mm512_add_epi64(_mm512_castpd_si512(exact), all_words(4 - kMiddle)), all_words(kCutOff));
  odd = _mm512_mask_cmple_epu64_mask(large, cut, all_words(8));
  return _mm256_mask_mov_ps(values, large, _mm512_cvtpd_ps(exact));
}

}  // namespace fsstream

// Fields `name:value` in wide registers, for what is compiled for AVX-512; static for the reason that wide_text.hpp
// gives.
//
// The marks of a text are its colons and blanks. Where they stand in turns, two marks are a field.
#pragma once

#include "parse/wide_text.hpp"

namespace fsstream {

// Of the `listed` bits, the `before`-th mark and those behind it, one for each that is a colon where a blank is due,
// or the other way round: the n-th bit for the n-th of them. A colon is due first.
static inline std::uint64_t out_of_turns(std::uint64_t colons, std::uint64_t listed, std::size_t before) {
  const std::uint64_t in_turns = std::uint64_t{0x5555555555555555} << (before & 1);
  return _pext_u64(colons, listed) ^ _bzhi_u64(in_turns, static_cast<unsigned>(__builtin_popcountll(listed)));
}

// Of up to eight fields, counted from where the marks are.
struct Ends {
  __m512i starts;
  __m512i name_stops;
  __m512i stops;
};

static inline __m512i behind(__m512i blanks) {
  return _mm512_and_si512(_mm512_add_epi32(blanks, _mm512_set1_epi32(1)), all_words(0xffffffff));
}

// Marks in turns; in front of the first one stands the blank before the first field, which may be at -1.
static inline Ends paired_ends(const std::uint32_t* marks, std::size_t first) {
  const __m512i both = _mm512_loadu_si512(marks + 2 * first);
  return {behind(_mm512_loadu_si512(marks + 2 * first - 1)), _mm512_and_si512(both, all_words(0xffffffff)),
          _mm512_srli_epi64(both, 32)};
}

// Blanks only: fields without a value.
static inline Ends bare_ends(const std::uint32_t* marks, std::size_t first) {
  const auto eight = [](const std::uint32_t* from) {
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  };
  const __m512i stops = eight(marks + first);
  return {behind(eight(marks + first - 1)), stops, stops};
}

// Numbers of up to 15 digits, of which the last eight are at hand and `before(lanes)` gives the eight in front of
// those. Of up to eight they are made already, but for those that are odd: which of these are left.
template <class Before>
[[gnu::noinline]] static __mmask8 read_longer(__m512i tails, __m512i digits, __mmask8 odd, Before before,
                                              __m512i& numbers) {
  const __mmask8 longer = _mm512_mask_cmple_epu64_mask(odd, _mm512_sub_epi64(digits, all_words(9)), all_words(6));
  if (longer == 0) return odd;
  __mmask8 odd_low, odd_high;
  const __m512i low = numbers_of(tails, all_words(8), odd_low);
  const __m512i high = numbers_of(before(longer), _mm512_sub_epi64(digits, all_words(8)), odd_high);
  const auto made = static_cast<__mmask8>(longer & ~(odd_low | odd_high));
  const __m512i sum = _mm512_add_epi64(_mm512_mul_epu32(high, all_words(100000000)), low);
  numbers = _mm512_mask_mov_epi64(numbers, made, sum);
  return static_cast<__mmask8>(odd & ~made);
}

// The eight bytes that end eight bytes in front of each of these places.
static inline __m512i words_before(const char* text, __m512i stops, __mmask8 lanes) {
  return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes, stops, text - 16, 1);
}

// Numbers of up to eight characters with a point between two digits: their digits, and how many are behind it.
struct Pointed {
  __m512i numbers;
  __m512i places;
  __mmask8 read;
};

[[gnu::noinline]] static Pointed pointed(__m512i heads, __m512i sizes) {
  const __m512i ones = _mm512_set1_epi8(1);
  const __m512i from_point = _mm512_xor_si512(heads, _mm512_set1_epi8('.'));
  const __m512i points = _mm512_and_si512(_mm512_andnot_si512(from_point, _mm512_sub_epi64(from_point, ones)),
                                          _mm512_set1_epi8(static_cast<char>(0x80)));
  // Up to the first point they are right. All bits in front of it, or all where there is none.
  const __m512i first = _mm512_and_si512(points, _mm512_sub_epi64(_mm512_setzero_si512(), points));
  const __m512i in_front = _mm512_sub_epi64(_mm512_srli_epi64(first, 7), all_words(1));
  const __m512i wholes = _mm512_sad_epu8(_mm512_and_si512(in_front, ones), _mm512_setzero_si512());
  const __m512i digits = _mm512_sub_epi64(sizes, all_words(1));
  const __m512i joined =
      _mm512_or_si512(_mm512_and_si512(heads, in_front), _mm512_andnot_si512(in_front, _mm512_srli_epi64(heads, 8)));
  const __m512i left = _mm512_sub_epi64(all_words(64), _mm512_slli_epi64(digits, 3));
  Pointed made;
  __mmask8 odd;
  made.numbers = numbers_of(_mm512_sllv_epi64(joined, left), digits, odd);
  made.places = _mm512_sub_epi64(digits, wholes);
  const __mmask8 has_both =
      _mm512_cmplt_epu64_mask(_mm512_sub_epi64(wholes, all_words(1)), _mm512_sub_epi64(digits, all_words(1)));
  made.read = static_cast<__mmask8>(has_both & ~odd & _mm512_cmple_epu64_mask(sizes, all_words(8)));
  return made;
}

// Decimals of these sizes, from the eight bytes that each begins with and the eight that it ends with; `odd` are those
// that are none, or need more care: of the rest each is up to 15 digits, with a point behind a leading zero or, among
// up to seven, anywhere, and a minus or none. `before` as of read_longer.
template <class Before>
static inline __m256 decimals_of(__m512i heads, __m512i tails, __m512i sizes, __mmask8 lanes, Before before,
                                 __mmask8& odd) {
  const __mmask8 negative = _mm512_cmpeq_epi64_mask(_mm512_and_si512(heads, all_words(0xff)), all_words('-'));
  heads = _mm512_mask_srli_epi64(heads, negative, heads, 8);
  sizes = _mm512_mask_sub_epi64(sizes, negative, sizes, all_words(1));
  const __m512i two = _mm512_and_si512(heads, all_words(0xffff));
  const __mmask8 zero_point = _mm512_cmpeq_epi64_mask(two, all_words('0' | '.' << 8));
  const __m512i digits = _mm512_mask_sub_epi64(sizes, zero_point, sizes, all_words(2));
  __m512i numbers = numbers_of(tails, digits, odd);
  __m512i places = _mm512_maskz_mov_epi64(zero_point, digits);
  odd = static_cast<__mmask8>(odd & lanes);
  if (odd != 0) [[unlikely]] {
    const Pointed made = pointed(heads, sizes);
    const auto mended = static_cast<__mmask8>(odd & made.read);
    numbers = _mm512_mask_mov_epi64(numbers, mended, made.numbers);
    places = _mm512_mask_mov_epi64(places, mended, made.places);
    odd = read_longer(tails, digits, static_cast<__mmask8>(odd & ~mended), before, numbers);
  }
  __mmask8 careful;
  const __m256 values = scaled_down(numbers, places, careful);
  odd = static_cast<__mmask8>(odd | (careful & lanes));
  return _mm256_mask_xor_ps(values, negative, values, _mm256_set1_ps(-0.0F));
}

}  // namespace fsstream

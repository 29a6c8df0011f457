// name_hashes.cpp for AVX-512. This file alone is compiled for it (see CMakeLists.txt): it must not emit inline
// functions of headers, which the linker might share with the rest.
#include "parse/name_hashes.hpp"

#if defined(__AVX512F__)
#include "parse/wide_hash.hpp"

namespace fsstream {

namespace {

struct TwoWords {
  __m512i first;
  __m512i second;
};

// The sixteen bytes from each of eight places on. Eight loads: to gather is slower on many machines.
inline TwoWords words_at(const char* base, __m512i places) {
  alignas(64) std::uint64_t at[kEight];
  _mm512_store_si512(at, places);
  const auto pair = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + at[i])); };
  const auto four = [&](int i) {
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(pair(i)), pair(i + 1), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(pair(i + 2)), pair(i + 3), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  };
  const __m512i low = four(0);
  const __m512i high = four(4);
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  return {_mm512_permutex2var_epi64(low, even, high),
          _mm512_permutex2var_epi64(low, _mm512_add_epi64(even, all_words(1)), high)};
}

// Of eight names. Lanes without one have the size 0.
inline __m512i hash_eight(const char* arena, __m512i places, __m512i sizes) {
  WideHash hash = no_hash();
  __m512i left = sizes;
  TwoWords words = words_at(arena, places);
  while (const __mmask8 blocks = _mm512_cmpgt_epu64_mask(left, all_words(15))) {
    const WideHash more = with_block(hash, words.first, words.second);
    hash = {_mm512_mask_mov_epi64(hash.h1, blocks, more.h1), _mm512_mask_mov_epi64(hash.h2, blocks, more.h2)};
    places = _mm512_mask_add_epi64(places, blocks, places, all_words(16));
    left = _mm512_mask_sub_epi64(left, blocks, left, all_words(16));
    words = words_at(arena, places);
  }
  return ended(hash, words.first, words.second, left, sizes);
}

void hash_eights(const char* arena, const TextRef* names, std::size_t count, Key* hashes) {
  static_assert(sizeof(TextRef) == sizeof(std::uint64_t));
  for (std::size_t first = 0; first < count; first += kEight) {
    const __mmask8 lanes = first_lanes(count - first);
    const __m512i refs = _mm512_maskz_loadu_epi64(lanes, names + first);
    const __m512i places = _mm512_and_si512(refs, all_words(TextRef::kArena - 1));
    _mm512_mask_storeu_epi64(hashes + first, lanes, hash_eight(arena, places, _mm512_srli_epi64(refs, 32)));
  }
}

}  // namespace

NameHasher wide_name_hasher() { return &hash_eights; }

}  // namespace fsstream

#else

namespace fsstream {

NameHasher wide_name_hasher() { return nullptr; }

}  // namespace fsstream

#endif

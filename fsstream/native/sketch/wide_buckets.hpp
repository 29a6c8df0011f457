// The buckets of an active set in wide registers. Static, as wide_lanes.hpp says why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sketch/row_kernels.hpp"
#include "sketch/wide_lanes.hpp"

namespace fsstream {

// A bucket is one comparison.
static inline std::uint32_t find_key(const KeyBuckets& buckets, std::uint64_t key, std::uint32_t home) {
  const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(key));
  for (std::uint32_t bucket = home & buckets.mask;; bucket = (bucket + 1) & buckets.mask) {
    const std::uint32_t used = buckets.used[bucket];
    const __m512i keys = _mm512_loadu_si512(buckets.keys + std::size_t{bucket} * KeyBuckets::kSize);
    const std::uint32_t match = _bzhi_u32(_mm512_cmpeq_epi64_mask(keys, wanted), used);
    const std::uint32_t slot = bucket * KeyBuckets::kSize + _tzcnt_u32(match);
    if (__builtin_expect(used < KeyBuckets::kSize || match != 0, 1)) return match != 0 ? slot : KeyBuckets::kNone;
  }
}

static inline void ask_for_bucket(const KeyBuckets& buckets, std::uint32_t home) {
  const std::uint64_t* keys = buckets.keys + std::size_t{home & buckets.mask} * KeyBuckets::kSize;
  _mm_prefetch(reinterpret_cast<const char*>(keys), _MM_HINT_T0);
}

// Lanes whose keys may be there.
static inline __mmask16 pass_filter(const KeyBuckets& buckets, __m512i home, __mmask16 lanes) {
  const __m512i bit = _mm512_srl_epi32(home, _mm_cvtsi32_si128(buckets.filter_shift));
  const __m512i word =
      _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, _mm512_srli_epi32(bit, 5), buckets.filter, 4);
  const __m512i wanted = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(bit, _mm512_set1_epi32(31)));
  return _mm512_test_epi32_mask(word, wanted);
}

}  // namespace fsstream

// run_kernels.cpp for AVX-512, compiled like row_kernels_avx512.cpp.
#include "sketch/run_kernels.hpp"

#if defined(__AVX512F__)
#include "sketch/wide_buckets.hpp"

namespace fsstream {

namespace {

constexpr int kLineShift = 6;  // buckets and blocks are cache lines
static_assert(KeyBuckets::kSize * sizeof(std::uint64_t) == 1U << kLineShift);
static_assert(kBlockFloats * sizeof(float) == 1U << kLineShift);

inline void ask_for(const void* line) { _mm_prefetch(static_cast<const char*>(line), _MM_HINT_T1); }

// Addresses of eight lines: of buckets where `maybe`, else of blocks.
inline __m512i lines_of(__m256i numbers, __mmask8 maybe, const KeyBuckets& buckets, const BlockRows& places) {
  const __m512i blocks = _mm512_set1_epi64(reinterpret_cast<long long>(places.cells));
  const __m512i bases = _mm512_mask_set1_epi64(blocks, maybe, reinterpret_cast<long long>(buckets.keys));
  return _mm512_add_epi64(bases, _mm512_slli_epi64(_mm512_cvtepu32_epi64(numbers), kLineShift));
}

// All requests before the first answer is needed.
std::size_t list_maybe(const KeyBuckets& buckets, const RunEntries& run, std::size_t count, std::uint32_t* maybe,
                       std::uint32_t* slots) {
  std::size_t listed = 0;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __m512i homes = _mm512_maskz_loadu_epi32(lanes, run.places.bits + j);
    const __mmask16 passed = pass_filter(buckets, homes, lanes);
    _mm512_storeu_si512(slots + j, all(KeyBuckets::kNone));
    _mm512_storeu_si512(maybe + listed, _mm512_maskz_compress_epi32(passed, numbers_from(j)));
    listed += static_cast<std::size_t>(__builtin_popcount(passed));
    const __m512i numbers =
        _mm512_mask_and_epi32(_mm512_maskz_loadu_epi32(lanes, run.places.blocks + j), passed, homes, all(buckets.mask));
    alignas(64) const void* lines[kWide];
    const __m512i low = lines_of(_mm512_castsi512_si256(numbers), static_cast<__mmask8>(passed), buckets, run.places);
    const __m512i high =
        lines_of(_mm512_extracti32x8_epi32(numbers, 1), static_cast<__mmask8>(passed >> 8), buckets, run.places);
    _mm512_store_si512(lines, low);
    _mm512_store_si512(lines + kWide / 2, high);
    for (const void* line : lines) ask_for(line);
  }
  return listed;
}

void look_up(const KeyBuckets& buckets, const RunEntries& run, std::size_t count, std::uint32_t* maybe,
             std::uint32_t* slots) {
  const std::size_t listed = list_maybe(buckets, run, count, maybe, slots);
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t j = maybe[i];
    const std::uint32_t slot = find_key(buckets, run.keys[j], run.places.bits[j]);
    slots[j] = slot;
    const float* numbers = buckets.numbers + std::size_t{slot} * buckets.stride;
    const float* block = run.places.cells + std::size_t{run.places.blocks[j]} * kBlockFloats;
    ask_for(slot == KeyBuckets::kNone ? block : numbers);
  }
}

// Eight keys at a time; what stands behind the last is not touched.
void mark(const std::uint64_t* keys, std::size_t count, std::uint64_t key, std::uint32_t slot, std::uint32_t* slots) {
  const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(key));
  for (std::size_t j = 0; j < count; j += kWide / 2) {
    const auto lanes = static_cast<__mmask8>(lanes_left(count - j));
    const __mmask8 same = _mm512_mask_cmpeq_epi64_mask(lanes, _mm512_maskz_loadu_epi64(lanes, keys + j), wanted);
    if (same != 0) _mm256_mask_storeu_epi32(slots + j, same, _mm256_set1_epi32(static_cast<int>(slot)));
  }
}

std::size_t part_row(const RowEntries& row, std::size_t count, const PartedRow& out) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __m512i slots = _mm512_maskz_loadu_epi32(lanes, row.slots + j);
    const __mmask16 hit = _mm512_mask_cmpneq_epi32_mask(lanes, slots, all(KeyBuckets::kNone));
    const auto missed = static_cast<__mmask16>(lanes & ~hit);
    const __m512i numbers = numbers_from(j);
    const __m512i values = _mm512_maskz_loadu_epi32(lanes, row.values + j);
    const std::size_t other = j - found;
    pack(out.slots + found, hit, slots);
    pack(out.present + found, hit, numbers);
    pack(out.present_values + found, hit, values);
    pack(out.absent + other, missed, numbers);
    pack(out.absent_values + other, missed, values);
    pack(out.absent_places + other, missed, _mm512_maskz_loadu_epi32(lanes, row.places + j));
    pack(out.absent_homes + other, missed, _mm512_maskz_loadu_epi32(lanes, row.homes + j));
    found += static_cast<std::size_t>(__builtin_popcount(hit));
  }
  return found;
}

}  // namespace

const RunKernels* wide_run_kernels() {
  static const RunKernels kernels = {&look_up, &mark, &part_row};
  return &kernels;
}

}  // namespace fsstream

#else

namespace fsstream {

const RunKernels* wide_run_kernels() { return nullptr; }

}  // namespace fsstream

#endif

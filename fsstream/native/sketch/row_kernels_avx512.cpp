// row_kernels.cpp for AVX-512. This file alone is compiled for it (see CMakeLists.txt): it
// must not emit inline functions of headers, which the linker might share with the rest.
#include "sketch/row_kernels.hpp"

#if defined(__AVX512F__)
#include "sketch/by_depth.hpp"
#include "sketch/wide_buckets.hpp"
#include "sketch/wide_lanes.hpp"

namespace fsstream {

namespace {

// One by one, but put together in registers. Wide gathers take longer (AMD), and so does reading, sixteen at once, what
// was just stored one by one.
inline __m128 four_cells(float* cells, const std::uint32_t* places) {
  __m128 read = _mm_load_ss(&cell_at(cells, places[0]));
  read = _mm_insert_ps(read, _mm_load_ss(&cell_at(cells, places[1])), 0x10);
  read = _mm_insert_ps(read, _mm_load_ss(&cell_at(cells, places[2])), 0x20);
  return _mm_insert_ps(read, _mm_load_ss(&cell_at(cells, places[3])), 0x30);
}

inline __m256 eight_cells(float* cells, const std::uint32_t* places) {
  return _mm256_set_m128(four_cells(cells, places + 4), four_cells(cells, places));
}

inline __m512 sixteen_cells(float* cells, const std::uint32_t* places) {
  const __m512 low = _mm512_castps256_ps512(eight_cells(cells, places));
  return _mm512_insertf32x8(low, eight_cells(cells, places + 8), 1);
}

// The median of the cells of sixteen entries; those behind the last have places, too.
template <int D>
inline __m512 median_at(const SketchRows& rows, std::size_t first) {
  __m512 numbers[D];
  for (std::size_t r = 0; r < D; ++r) {
    const std::uint32_t* places = places_of(rows, r, first);
    const __m512i read = _mm512_castps_si512(sixteen_cells(cells_of(rows, r), places));
    numbers[r] = _mm512_castsi512_ps(signed_by(read, _mm512_loadu_si512(places)));
  }
  return median(numbers);
}

template <int D>
void estimate(const SketchRows& rows, std::size_t count, float* estimates) {
  for (std::size_t j = 0; j < count; j += kWide)
    _mm512_mask_storeu_ps(estimates + j, lanes_left(count - j), median_at<D>(rows, j));
}

// Sixteen sums of doubles, folded in halves.
struct Sums {
  __m512d low = _mm512_setzero_pd();
  __m512d high = _mm512_setzero_pd();
};

inline void add_products(Sums& sums, __m512 a, __m512 b, __mmask16 where) {
  const __m512d a_low = _mm512_cvtps_pd(_mm512_castps512_ps256(a));
  const __m512d a_high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
  const __m512d b_low = _mm512_cvtps_pd(_mm512_castps512_ps256(b));
  const __m512d b_high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(b, 1));
  // Adding nothing equals adding +0.0: a sum that began at +0.0 never is -0.0.
  const auto where_low = static_cast<__mmask8>(where);
  const auto where_high = static_cast<__mmask8>(where >> 8);
  sums.low = _mm512_mask_add_pd(sums.low, where_low, sums.low, _mm512_mul_pd(a_low, b_low));
  sums.high = _mm512_mask_add_pd(sums.high, where_high, sums.high, _mm512_mul_pd(a_high, b_high));
}

inline double total(const Sums& sums) {
  const __m512d eight = _mm512_add_pd(sums.low, sums.high);
  const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

inline __mmask16 larger(__m512 x, float threshold, __mmask16 lanes) {
  return _mm512_mask_cmp_ps_mask(lanes, _mm512_abs_ps(x), _mm512_set1_ps(threshold), _CMP_GT_OQ);
}

template <int D>
double score_above(const SketchRows& rows, std::size_t count, const float* values, float threshold, float* estimates) {
  Sums sums;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __m512 estimated = median_at<D>(rows, j);
    _mm512_mask_storeu_ps(estimates + j, lanes, estimated);
    add_products(sums, estimated, _mm512_maskz_loadu_ps(lanes, values + j), larger(estimated, threshold, lanes));
  }
  return total(sums);
}

// What cells of up to kAtOnce entries change by, a row of the sketch after the other.
template <int D>
struct Changes {
  static constexpr std::size_t kAtOnce = 256;
  alignas(64) float of[D][kAtOnce];
};

// Signs are wide, cells are changed one by one: two entries may meet in one. All cells of an entry, then the next: the
// end of a loop is guessed wrong once, not once a row.
template <int D>
inline void add_some(const SketchRows& rows, std::size_t first, std::size_t count, const float* steps) {
  Changes<D> changes;
  const std::uint32_t* places[D];
  float* cells[D];
  for (std::size_t r = 0; r < D; ++r) {
    places[r] = places_of(rows, r, first);
    cells[r] = cells_of(rows, r);
  }
  for (std::size_t j = 0; j < count; j += kWide) {
    const __m512i step = _mm512_castps_si512(_mm512_maskz_loadu_ps(lanes_left(count - j), steps + first + j));
    for (std::size_t r = 0; r < D; ++r)
      _mm512_store_si512(changes.of[r] + j, signed_by(step, _mm512_loadu_si512(places[r] + j)));
  }
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t r = 0; r < D; ++r) cell_at(cells[r], places[r][j]) += changes.of[r][j];
}

template <int D>
void add(const SketchRows& rows, std::size_t count, const float* steps) {
  constexpr std::size_t kAtOnce = Changes<D>::kAtOnce;
  for (std::size_t first = 0; first < count; first += kAtOnce)
    add_some<D>(rows, first, count - first < kAtOnce ? count - first : kAtOnce, steps);
}

std::size_t step_above(const float* weights, const float* values, std::size_t count, float coefficient, float threshold,
                       float* steps, std::uint32_t* listed) {
  std::size_t above = 0;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __m512 step = _mm512_mul_ps(_mm512_set1_ps(coefficient), _mm512_maskz_loadu_ps(lanes, values + j));
    const __m512 after = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, weights + j), step);
    _mm512_storeu_ps(steps + j, step);
    const __mmask16 chosen = larger(after, threshold, lanes);
    _mm512_storeu_si512(listed + above, _mm512_maskz_compress_epi32(chosen, numbers_from(j)));
    above += static_cast<std::size_t>(__builtin_popcount(chosen));
  }
  return above;
}

void find_listed(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                 const std::uint32_t* listed, std::size_t count, std::uint32_t* slots) {
  for (std::size_t i = 0; i < count; ++i) ask_for_bucket(buckets, homes[listed[i]]);
  for (std::size_t i = 0; i < count; ++i) slots[i] = find_key(buckets, keys[listed[i]], homes[listed[i]]);
}

std::size_t split(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes, std::size_t count,
                  std::uint32_t* slots, std::uint32_t* present, std::uint32_t* absent) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < count; j += kWide) {
    const __mmask16 lanes = lanes_left(count - j);
    const __mmask16 maybe = pass_filter(buckets, _mm512_maskz_loadu_epi32(lanes, homes + j), lanes);
    std::uint32_t hits = 0;
    std::uint32_t* slot = slots + found;
    for (std::uint32_t left = maybe; left != 0; left = _blsr_u32(left)) {
      const std::size_t i = _tzcnt_u32(left);
      *slot = find_key(buckets, keys[j + i], homes[j + i]);
      const bool is_there = *slot != KeyBuckets::kNone;
      hits |= std::uint32_t{is_there} << i;
      slot += is_there;
    }
    const auto hit = static_cast<__mmask16>(hits);
    pack(present + found, hit, numbers_from(j));
    pack(absent + (j - found), static_cast<__mmask16>(lanes & ~hit), numbers_from(j));
    found += static_cast<std::size_t>(__builtin_popcount(hit));
  }
  return found;
}

double dot_slots(const float* table, std::uint32_t stride, const std::uint32_t* slots, const float* values,
                 std::size_t count) {
  Sums sums;
  for (std::size_t i = 0; i < count; i += kWide) {
    const __mmask16 lanes = lanes_left(count - i);
    const __m512i at =
        _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(lanes, slots + i), _mm512_set1_epi32(static_cast<int>(stride)));
    add_products(sums, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, at, table, 4),
                 _mm512_maskz_loadu_ps(lanes, values + i), lanes);
  }
  return total(sums);
}

template <int D>
const SketchKernels* wide_kernels() {
  static const SketchKernels kernels = {portable_sketch_kernels<D>().hash, &estimate<D>, &score_above<D>, &add<D>};
  return &kernels;
}

}  // namespace

const SketchKernels* wide_sketch_kernels(int depth) {
  return by_depth(depth, [](auto d) { return wide_kernels<d()>(); });
}

const RowKernels* wide_row_kernels() {
  static const RowKernels kernels = {&step_above, &find_listed, &split, &dot_slots};
  return &kernels;
}

}  // namespace fsstream

#else

namespace fsstream {

const SketchKernels* wide_sketch_kernels(int) { return nullptr; }
const RowKernels* wide_row_kernels() { return nullptr; }

}  // namespace fsstream

#endif

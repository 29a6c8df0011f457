// The busiest loop of class_kernels.cpp for AVX-512, compiled like row_kernels_avx512.cpp.
#include "sketch/class_kernels.hpp"

#if defined(__AVX512F__)
#include "sketch/by_depth.hpp"
#include "sketch/wide_lanes.hpp"

namespace fsstream {

namespace {

template <int D>
std::size_t step(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, const ClassStep& by,
                 std::uint32_t* above, float* estimates) {
  const std::size_t lanes = rows.lanes;
  const std::size_t far = class_cells::distance(D, lanes);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = listed[i];
    if (j + far < rows.known) class_cells::fetch<D>(rows, j + far);
    if (by.factors[i] == 0.0F) continue;
    const __m512 factor = _mm512_set1_ps(by.factors[i]);
    const __m512 stature = _mm512_set1_ps(by.statures[i]);
    float* out = estimates + found * lanes;
    __mmask16 exceeds = 0;
    for (std::size_t begin = 0; begin < lanes; begin += kWide) {
      const __mmask16 there = lanes_left(lanes - begin);
      const __m512i moved = _mm512_castps_si512(_mm512_mul_ps(factor, _mm512_maskz_loadu_ps(there, by.step + begin)));
      __m512 seen[D];
      for (std::size_t r = 0; r < D; ++r) {
        const std::uint32_t place = rows.columns[r * rows.stride + j];
        float* at = class_cells::at(rows, r, place) + begin;
        const __m512i sign = all(place);
        const __m512 after =
            _mm512_add_ps(_mm512_maskz_loadu_ps(there, at), _mm512_castsi512_ps(signed_by(moved, sign)));
        _mm512_mask_storeu_ps(at, there, after);
        seen[r] = _mm512_castsi512_ps(signed_by(_mm512_castps_si512(after), sign));
      }
      const __m512 middle = median(seen);
      _mm512_mask_storeu_ps(out + begin, there, middle);
      exceeds |= _mm512_mask_cmp_ps_mask(there, _mm512_mul_ps(_mm512_abs_ps(middle), stature),
                                         _mm512_maskz_loadu_ps(there, by.thresholds + begin), _CMP_GT_OQ);
    }
    above[found] = static_cast<std::uint32_t>(i);
    found += exceeds != 0;
  }
  return found;
}

}  // namespace

ClassKernels::Step wide_class_step(int depth) {
  return by_depth(depth, [](auto d) -> ClassKernels::Step { return &step<d()>; });
}

}  // namespace fsstream

#else

namespace fsstream {

ClassKernels::Step wide_class_step(int) { return nullptr; }

}  // namespace fsstream

#endif

// The median of a few numbers, and signs as bits: what every sketch's inner loop is made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sketch/row_kernels.hpp"

namespace fsstream {

// x, negated when the sign bit of the place is set.
inline float signed_by(float x, std::uint32_t place) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ (place & kSignBit));
}

// Median of D numbers by a network of minima and maxima.
template <int D>
inline float median(float (&v)[D]) {
  for (int last = D - 1; last >= D / 2; --last)
    for (int i = 0; i < last; ++i) {
      const float low = v[i] < v[i + 1] ? v[i] : v[i + 1];
      const float high = v[i] < v[i + 1] ? v[i + 1] : v[i];
      v[i] = low;
      v[i + 1] = high;
    }
  return v[D / 2];
}

// medians[j] = median of v[0][j], v[1][j], ...
template <int D, std::size_t N>
inline void medians(const float (&v)[D][N], std::size_t count, float* __restrict medians) {
  for (std::size_t j = 0; j < count; ++j) {
    float of_one[D];
    for (int r = 0; r < D; ++r) of_one[r] = v[r][j];
    medians[j] = median(of_one);
  }
}

}  // namespace fsstream

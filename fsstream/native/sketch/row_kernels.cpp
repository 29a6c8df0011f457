#include "sketch/row_kernels.hpp"

#include <bit>
#include <stdexcept>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "hash/mix.hpp"
#include "sketch/hashed_keys.hpp"

namespace fsstream {

namespace {

constexpr std::uint32_t kIndex = HashedKeys::kSign - 1;

// Median of D numbers by a network of minima and maxima, which vectorises.
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

inline float signed_by(float x, std::uint32_t place) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ (place & HashedKeys::kSign));
}

template <int D>
inline void hash(const std::uint64_t* keys, std::size_t count, const std::uint64_t* seeds, std::uint32_t cell_mask,
                 std::uint32_t* columns, std::size_t stride) {
  const std::uint32_t keep = cell_mask | HashedKeys::kSign;
  for (int word = 0; word <= D / 2; ++word) {
    const std::uint64_t seed = seeds[word];
    // The last high half is the home in the active set, which wants all its bits.
    const std::uint32_t keep_high = word == D / 2 ? ~std::uint32_t{0} : keep;
    std::uint32_t* __restrict low = columns + static_cast<std::size_t>(2 * word) * stride;
    std::uint32_t* __restrict high = low + stride;
    for (std::size_t j = 0; j < count; ++j) {
      const std::uint64_t mixed = mix64(keys[j] ^ seed);
      low[j] = static_cast<std::uint32_t>(mixed) & keep;
      high[j] = static_cast<std::uint32_t>(mixed >> 32) & keep_high;
    }
  }
}

template <int D>
inline void estimate(const SketchRows& rows, std::size_t count, float* __restrict estimates) {
  for (std::size_t j = 0; j < count; ++j) {
    float seen[D];
    for (int r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[static_cast<std::size_t>(r) * rows.stride + j];
      const float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
      seen[r] = signed_by(cells[static_cast<std::int32_t>(place & kIndex)], place);
    }
    estimates[j] = median(seen);
  }
}

template <int D>
inline void add(const SketchRows& rows, std::size_t count, const float* steps) {
  for (int r = 0; r < D; ++r) {
    float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    for (std::size_t j = 0; j < count; ++j) cells[places[j] & kIndex] += signed_by(steps[j], places[j]);
  }
}

template <int D>
inline void add_listed(const SketchRows& rows, const std::uint32_t* which, std::size_t count, const float* steps,
                       float* estimates) {
  for (std::size_t i = 0; i < count; ++i) {
    float seen[D];
    for (int r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[static_cast<std::size_t>(r) * rows.stride + which[i]];
      seen[r] = signed_by(rows.cells[static_cast<std::size_t>(r) * rows.width + (place & kIndex)], place);
    }
    estimates[i] = median(seen);
  }
  for (std::size_t i = 0; i < count; ++i)
    for (int r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[static_cast<std::size_t>(r) * rows.stride + which[i]];
      rows.cells[static_cast<std::size_t>(r) * rows.width + (place & kIndex)] += signed_by(steps[i], place);
    }
}

inline float magnitude(float x) { return x < 0 ? -x : x; }

inline double dot_above(const float* weights, const float* values, std::size_t count, float threshold) {
  return sum_in_lanes(count, [=](std::size_t j) {
    const double product = static_cast<double>(weights[j]) * static_cast<double>(values[j]);
    return magnitude(weights[j]) > threshold ? product : 0.0;
  });
}

inline std::size_t step_above(const float* weights, const float* values, std::size_t count, float coefficient,
                              float threshold, float* __restrict steps, std::uint32_t* __restrict listed) {
  for (std::size_t j = 0; j < count; ++j) steps[j] = coefficient * values[j];
  std::size_t above = 0;
  for (std::size_t j = 0; j < count; ++j) {
    listed[above] = static_cast<std::uint32_t>(j);
    above += magnitude(weights[j] + steps[j]) > threshold ? 1 : 0;
  }
  return above;
}

template <int D>
const SketchKernels& kernels_of_depth() {
  static const SketchKernels kernels = {Compiled<&hash<D>>::best(), Compiled<&estimate<D>>::best(),
                                        Compiled<&add<D>>::best(), Compiled<&add_listed<D>>::best()};
  return kernels;
}

}  // namespace

const SketchKernels& sketch_kernels(int depth) {
  switch (depth) {
    case 1:
      return kernels_of_depth<1>();
    case 3:
      return kernels_of_depth<3>();
    case 5:
      return kernels_of_depth<5>();
    case 7:
      return kernels_of_depth<7>();
    default:
      throw std::invalid_argument("the depth of a sketch is 1, 3, 5 or 7");
  }
}

const RowKernels& row_kernels() {
  static const RowKernels kernels = {Compiled<&dot_above>::best(), Compiled<&step_above>::best()};
  return kernels;
}

}  // namespace fsstream

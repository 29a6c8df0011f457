#include "sketch/class_sketch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/multiversion.hpp"
#include "hash/mix.hpp"
#include "sketch/by_depth.hpp"
#include "sketch/median.hpp"

namespace fsstream {

namespace {

constexpr std::uint32_t kIndex = kSignBit - 1;
constexpr std::size_t kLine = 16;      // floats of a cache line
constexpr std::size_t kAhead = 4;      // entries looked ahead
constexpr std::size_t kWholeCell = 8;  // cache lines fetched ahead at most

inline float* cell(const ClassRows& rows, std::size_t r, std::uint32_t place) {
  return rows.cells + (r * rows.width + (place & kIndex)) * rows.lanes;
}

template <int D>
inline void prefetch(const ClassRows& rows, std::uint32_t j) {
  for (std::size_t r = 0; r < D; ++r) {
    const float* at = cell(rows, r, rows.columns[r * rows.stride + j]);
    for (std::size_t c = 0; c < std::min(rows.lanes, kWholeCell * kLine); c += kLine) __builtin_prefetch(at + c);
  }
}

template <int D>
inline void estimate(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, float* estimates) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch<D>(rows, listed[i + kAhead]);
    const float* at[D];
    std::uint32_t places[D];
    for (std::size_t r = 0; r < D; ++r) {
      places[r] = rows.columns[r * rows.stride + listed[i]];
      at[r] = cell(rows, r, places[r]);
    }
    float* __restrict out = estimates + i * rows.lanes;
    for (std::size_t c = 0; c < rows.lanes; ++c) {
      float seen[D];
      for (int r = 0; r < D; ++r) seen[r] = signed_by(at[r][c], places[r]);
      out[c] = median(seen);
    }
  }
}

template <int D>
inline void add(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, const float* factors,
                const float* step, float* estimates) {
  for (std::size_t i = 0; i < count; ++i) {
    if (factors[i] == 0.0F) continue;
    for (std::size_t r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[r * rows.stride + listed[i]];
      const float factor = signed_by(factors[i], place);
      float* __restrict at = cell(rows, r, place);
      for (std::size_t c = 0; c < rows.lanes; ++c) at[c] += factor * step[c];
    }
    float* __restrict out = estimates + i * rows.lanes;
    for (std::size_t c = 0; c < rows.lanes; ++c) out[c] += factors[i] * step[c];
  }
}

template <int D>
const ClassKernels& kernels_of_depth() {
  static const ClassKernels kernels = {Compiled<&estimate<D>>::best(), Compiled<&add<D>>::best()};
  return kernels;
}

const ClassKernels& class_kernels(int depth) {
  return *by_depth(depth, [](auto d) { return &kernels_of_depth<d()>(); });
}

}  // namespace

ClassSketch::ClassSketch(int depth, std::size_t width, std::uint64_t seed, std::size_t lanes)
    : depth_(depth), width_(width), lanes_(lanes), kernels_(&class_kernels(depth)) {
  if (!std::has_single_bit(width) || width < 2 || width > (std::size_t{1} << 30))
    throw std::invalid_argument("the width of a sketch is a power of two from 2 to 2^30");
  SplitMix seeds(seed);
  for (std::uint64_t& word : word_seeds_) word = seeds.next();
  cells_ = Pages<float>(static_cast<std::size_t>(depth) * width * lanes);
}

std::size_t ClassSketch::lanes_for(std::size_t classes) {
  if (classes <= kLine) return std::max<std::size_t>(4, std::bit_ceil(classes));
  return (classes + kLine - 1) / kLine * kLine;
}

void ClassSketch::hash(const Key* keys, std::size_t count, HashedKeys& out) const {
  out.resize(static_cast<std::size_t>(depth_) + 1, count);
  sketch_kernels(depth_).hash(keys, count, word_seeds_, static_cast<std::uint32_t>(width_ - 1), out.column(0),
                              out.stride());
}

std::uint32_t ClassSketch::home(Key key) const {
  return static_cast<std::uint32_t>(mix64(key ^ word_seeds_[depth_ / 2]) >> 32);
}

void ClassSketch::grow(std::size_t lanes) {
  const std::size_t cells = static_cast<std::size_t>(depth_) * width_;
  Pages<float> wider(cells * lanes);
  for (std::size_t i = 0; i < cells; ++i) std::copy_n(cells_.data() + i * lanes_, lanes_, wider.data() + i * lanes);
  cells_ = std::move(wider);
  lanes_ = lanes;
}

void ClassSketch::fold() {
  const std::size_t half = width_ / 2 * lanes_;  // floats
  Pages<float> narrower(static_cast<std::size_t>(depth_) * half);
  for (std::size_t r = 0; r < static_cast<std::size_t>(depth_); ++r)
    for (std::size_t i = 0; i < half; ++i)
      narrower[r * half + i] = cells_[2 * r * half + i] + cells_[(2 * r + 1) * half + i];
  cells_ = std::move(narrower);
  width_ /= 2;
}

void ClassSketch::scale(double factor) {
  for (float& at : cells_.span()) at = static_cast<float>(at * factor);
}

}  // namespace fsstream

#include "sketch/class_sketch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "hash/mix.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLine = 16;  // floats of a cache line

}  // namespace

ClassSketch::ClassSketch(int depth, std::size_t width, std::uint64_t seed, std::size_t lanes)
    : depth_(depth), width_(width), lanes_(lanes), kernels_(&class_kernels(depth, lanes)) {
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
  kernels_ = &class_kernels(depth_, lanes);
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

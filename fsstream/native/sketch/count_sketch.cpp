#include "sketch/count_sketch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "hash/mix.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

CountSketch::CountSketch(int depth, std::size_t width, std::uint64_t seed)
    : depth_(depth), width_(width), seed_(seed), kernels_(&sketch_kernels(depth)) {
  if (!std::has_single_bit(width) || width < 2 || width > (std::size_t{1} << 30))
    throw std::invalid_argument("the width of a sketch is a power of two from 2 to 2^30");
  SplitMix seeds(seed);
  for (std::uint64_t& word : word_seeds_) word = seeds.next();
  cells_ = Pages<float>(static_cast<std::size_t>(depth) * width);
}

void CountSketch::hash(const Key* keys, std::size_t count, HashedKeys& out) const {
  const auto depth = static_cast<std::size_t>(depth_);
  out.resize(depth + 1, count + kSlack);
  kernels_->hash(keys, count, word_seeds_, static_cast<std::uint32_t>(width_ - 1), out.column(0), out.stride());
  for (std::size_t r = 0; r < depth; ++r) std::fill_n(out.column(r) + count, kSlack, 0U);  // places that are valid
}

bool CountSketch::shrink(double factor, double& rewritten) {
  return shrink_lazily(scale_, cells_.span(), factor, rewritten);
}

std::uint32_t CountSketch::home(Key key) const {
  return static_cast<std::uint32_t>(mix64(key ^ word_seeds_[depth_ / 2]) >> 32);
}

CountSketch::Place CountSketch::place(Key key, int row) const {
  const std::uint64_t mixed = mix64(key ^ word_seeds_[row / 2]);
  const auto half = static_cast<std::uint32_t>(row % 2 == 0 ? mixed : mixed >> 32);
  return {half & static_cast<std::uint32_t>(width_ - 1), (half & kSignBit) != 0};
}

float CountSketch::query(Key key) const {
  float seen[kMaxDepth];
  for (int row = 0; row < depth_; ++row) {
    const Place at = place(key, row);
    const float cell = cells_[static_cast<std::size_t>(row) * width_ + at.cell];
    seen[row] = at.negative ? -cell : cell;
  }
  std::nth_element(seen, seen + depth_ / 2, seen + depth_);
  return seen[depth_ / 2];
}

void CountSketch::add(Key key, float amount) {
  for (int row = 0; row < depth_; ++row) {
    const Place at = place(key, row);
    cells_[static_cast<std::size_t>(row) * width_ + at.cell] += at.negative ? -amount : amount;
  }
}

void CountSketch::add(const CountSketch& other) {
  if (other.depth_ != depth_ || other.width_ != width_ || other.seed_ != seed_)
    throw std::invalid_argument("sketches of another shape or seed cannot be added");
  add_scaled(cells_.span(), other.cells_.span(), other.scale_ / scale_);
}

}  // namespace fsstream

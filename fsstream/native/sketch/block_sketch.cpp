#include "sketch/block_sketch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "hash/mix.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kBlock = kBlockFloats;

// Floats of a block that one row owns: BlockLayout::kCells.
std::size_t part_of(int depth) { return kBlock / std::bit_ceil(static_cast<unsigned>(depth) + 1); }

}  // namespace

BlockSketch::BlockSketch(int depth, std::size_t width, std::uint64_t seed)
    : depth_(depth), seed_(SplitMix(seed).next()), kernels_(&block_kernels(depth)) {
  if (!std::has_single_bit(width) || width < 2 || width > (std::size_t{1} << 28))
    throw std::invalid_argument("the width of a sketch is a power of two from 2 to 2^28");
  const std::size_t blocks = std::max<std::size_t>(width / part_of(depth), 1);
  block_mask_ = static_cast<std::uint32_t>(blocks - 1);
  cells_ = Pages<float>(blocks * kBlock);
}

void BlockSketch::hash(const Key* keys, std::size_t count, HashedKeys& out) const {
  out.resize(2, count);
  kernels_->hash(keys, count, seed_, block_mask_, out.column(0), out.column(1));
}

std::uint32_t BlockSketch::home(Key key) const { return static_cast<std::uint32_t>(mix64(key ^ seed_) >> 32); }

std::uint32_t BlockSketch::evidence_place(Key key) const {
  const auto pairs = static_cast<std::uint32_t>(part_of(depth_) / 2);
  const std::uint64_t mixed = mix64(key ^ seed_);
  const int row_bits = std::countr_zero(part_of(depth_)) + 1;
  const auto pair = static_cast<std::uint32_t>(mixed >> (32 + depth_ * row_bits)) & (pairs - 1);
  return (static_cast<std::uint32_t>(mixed) & block_mask_) * pairs + pair;
}

float BlockSketch::crowded() const {
  constexpr std::size_t kAsked = 1024;
  const std::size_t part = part_of(depth_);
  std::vector<float> seen;
  seen.reserve(kAsked + part);
  for (std::size_t end = kBlock; end <= cells_.size() && seen.size() < kAsked; end += kBlock)
    for (std::size_t i = end - part; i < end; i += 2) seen.push_back(cells_[i + 1]);
  const auto ninth = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() * 9 / 10);
  std::nth_element(seen.begin(), ninth, seen.end());
  return *ninth;
}

bool BlockSketch::shrink(double factor, double& rewritten) {
  return shrink_lazily(scale_, cells_.span(), factor, rewritten);
}

void BlockSketch::add(const BlockSketch& other) {
  if (other.depth_ != depth_ || other.cells_.size() != cells_.size() || other.seed_ != seed_)
    throw std::invalid_argument("sketches of another shape or seed cannot be added");
  add_scaled(cells_.span(), other.cells_.span(), other.scale_ / scale_);
}

void BlockSketch::fade_pairs(float factor) {
  const std::size_t part = part_of(depth_);
  for (std::size_t block = 0; block < cells_.size(); block += kBlock)
    for (std::size_t i = kBlock - part; i < kBlock; ++i) cells_[block + i] *= factor;
}

}  // namespace fsstream

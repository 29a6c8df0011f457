// BlockSketch: a count-sketch whose cells of one key share a cache line.
//
//   block(key)            16 floats, in parts: as many as the depth and one, rounded up to a power of two
//   part r < depth        the cells of row r; one of them, times a sign, is the key's
//   last part             pairs of numbers for learners that keep evidence beside weights
//
// Each row has `width` cells in all. One miss a key instead of one a row, and one for its pair:
// that is most of what learning long rows of rare keys costs. The price: two keys that share a
// block meet in a row with probability 1 / (cells of a part), so that they meet in most rows far
// more often than in rows of their own. Where the heavy weights are kept beside the sketch, all
// that can meet there is light, and what is selected is as good (measured: the same accuracy on
// twelve sets to .001, and of the first 1,000 features of the bench stream as many planted ones).
// With heavy weights inside it ruins the ranking: EstimatedWeights stays with CountSketch.
//
// Linear, and with a lazy scale, like CountSketch.
#pragma once

#include <cstdint>
#include <span>

#include "core/batch.hpp"
#include "core/pages.hpp"
#include "sketch/block_kernels.hpp"
#include "sketch/hashed_keys.hpp"

namespace fsstream {

class BlockSketch {
 public:
  // `depth` odd and at most 7, `width` a power of two up to 2^28.
  BlockSketch(int depth, std::size_t width, std::uint64_t seed);

  int depth() const { return depth_; }
  std::size_t bytes() const { return cells_.bytes(); }
  std::span<const float> cells() const { return cells_.span(); }
  std::span<float> cells() { return cells_.span(); }

  // Two columns: blocks and bits. The bits also serve as homes in an active set.
  void hash(const Key* keys, std::size_t count, HashedKeys& out) const;
  static const std::uint32_t* homes(const HashedKeys& hashed) { return hashed.column(1); }
  std::uint32_t home(Key key) const;
  BlockRows rows(const HashedKeys& hashed, std::size_t first) {
    return {cells_.data(), hashed.column(0) + first, hashed.column(1) + first};
  }
  const BlockKernels& kernels() const { return *kernels_; }

  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // As CountSketch's. Pairs would be rewritten, too: learners that keep some do not shrink.
  bool shrink(double factor, double& rewritten);
  // The number of a key's pair, counted over all blocks.
  std::uint32_t evidence_place(Key key) const;
  // The second number of a pair that nine in ten do not exceed, as the first 1,024 pairs say.
  float crowded() const;
  // The sketch of the sum; pairs are added, too.
  void add(const BlockSketch& other);
  // Multiplies all pairs.
  void fade_pairs(float factor);

 private:
  int depth_;
  std::uint64_t seed_;
  std::uint32_t block_mask_;
  double scale_ = 1.0;
  Pages<float> cells_;
  const BlockKernels* kernels_;
};

}  // namespace fsstream

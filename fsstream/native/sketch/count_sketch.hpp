// CountSketch (Charikar, Chen, Farach-Colton 2002): depth rows of width float32 cells.
//
//   add(key, x)    cell(r, key) += sign(r, key) x        in every row r
//   query(key)     median over r of sign(r, key) cell(r, key)
//
// Linear: the sketch of a sum is the sum of the sketches. `scale` multiplies all cells
// lazily, so that ridge decay costs one multiplication a row; hot loops see cells as stored.
//
// Rows are separate arrays. All cells of a key in one cache line would cost one miss
// instead of three, but keys that collide once then collide in every row, and the median
// no longer protects a heavy key from another: precision of the first 500 selected falls
// to a tenth when the weights are estimates.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "core/pages.hpp"
#include "sketch/hashed_keys.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

class CountSketch {
 public:
  static constexpr int kMaxDepth = 7;

  // `depth` odd and at most kMaxDepth, `width` a power of two from 2 to 2^30.
  CountSketch(int depth, std::size_t width, std::uint64_t seed);

  int depth() const { return depth_; }
  std::size_t width() const { return width_; }
  std::uint64_t seed() const { return seed_; }
  std::size_t bytes() const { return cells_.bytes(); }
  std::span<const float> cells() const { return cells_.span(); }
  std::span<float> cells() { return cells_.span(); }

  void hash(const Key* keys, std::size_t count, HashedKeys& out) const;
  // The kernels' view of entries [first, ...) of hashed keys.
  SketchRows rows(const HashedKeys& hashed, std::size_t first) {
    return {cells_.data(), width_, hashed.column(0) + first, hashed.stride()};
  }
  const SketchKernels& kernels() const { return *kernels_; }
  const std::uint32_t* homes(const HashedKeys& hashed) const { return hashed.column(static_cast<std::size_t>(depth_)); }

  // 32 mixed bits of the key that no cell depends on: column `depth` of hash.
  std::uint32_t home(Key key) const;

  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // Multiplies everything by `factor`. True when the cells were rewritten to keep the scale
  // in range: what is stored in the cells' unit must be multiplied by `rewritten` then.
  bool shrink(double factor, double& rewritten);

  // The cell of a key in the first row, beside which learners keep evidence.
  std::uint32_t evidence_place(Key key) const { return place(key, 0).cell; }

  // In the cells' unit; for single keys outside the hot loops.
  float query(Key key) const;
  void add(Key key, float amount);
  void add(const CountSketch& other);

 private:
  struct Place {
    std::uint32_t cell;
    bool negative;
  };
  Place place(Key key, int row) const;

  int depth_;
  std::size_t width_;
  std::uint64_t seed_;
  std::uint64_t word_seeds_[(kMaxDepth + 1) / 2];
  double scale_ = 1.0;
  Pages<float> cells_;
  const SketchKernels* kernels_;
};

}  // namespace fsstream

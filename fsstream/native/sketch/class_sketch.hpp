// ClassSketch: a count-sketch whose cells hold one float a class, side by side.
//
//   cells[row][cell][lane]    lane c is the sketch of class c's weights
//
// A key has the same cell and sign for all classes, so hashing is done once a key and the
// classes of a cell share cache lines. Lanes that no class uses yet are zero.
//
// A late class may need more lanes (grow) and memory may not have them: fold() halves the
// width by adding cell i + width / 2 to cell i, which gives the very sketch that a table of
// half the width would have held from the start, because a cell is the low bits of a word.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "core/pages.hpp"
#include "sketch/class_kernels.hpp"
#include "sketch/hashed_keys.hpp"

namespace fsstream {

class ClassSketch {
 public:
  // `depth` odd and at most 7, `width` a power of two from 2 to 2^30.
  ClassSketch(int depth, std::size_t width, std::uint64_t seed, std::size_t lanes);

  // Lanes for so many classes: whole registers, with some to spare.
  static std::size_t lanes_for(std::size_t classes);
  static std::size_t bytes_of(int depth, std::size_t width, std::size_t lanes) {
    return static_cast<std::size_t>(depth) * width * lanes * sizeof(float);
  }

  int depth() const { return depth_; }
  std::size_t width() const { return width_; }
  std::size_t lanes() const { return lanes_; }
  std::size_t bytes() const { return cells_.bytes(); }
  std::span<float> cells() { return cells_.span(); }
  std::span<const float> cells() const { return cells_.span(); }

  void hash(const Key* keys, std::size_t count, HashedKeys& out) const;
  std::uint32_t home(Key key) const;
  ClassRows rows(const HashedKeys& hashed, std::size_t first) {
    return {cells_.data(), width_, lanes_, hashed.column(0) + first, hashed.stride(), hashed.stride() - first};
  }
  const ClassKernels& kernels() const { return *kernels_; }

  void grow(std::size_t lanes);
  void fold();
  void scale(double factor);

 private:
  static constexpr int kMaxDepth = 7;

  int depth_;
  std::size_t width_;
  std::size_t lanes_;
  std::uint64_t word_seeds_[(kMaxDepth + 1) / 2];
  Pages<float> cells_;
  const ClassKernels* kernels_;
};

}  // namespace fsstream

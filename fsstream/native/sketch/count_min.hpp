// CountMin with conservative update (Estan, Varghese 2002; Cormode, Muthukrishnan 2005):
// sums of what is never negative, over all keys, in depth rows of width float32 cells.
//
//   add(key, x)    new = query(key) + x; every cell of the key is raised to it
//   query(key)     the smallest of the key's cells: never below the true sum
//
// Not linear: cells only rise. Two cells come from one mixed word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "core/ask.hpp"
#include "core/batch.hpp"
#include "core/pages.hpp"
#include "hash/mix.hpp"

namespace fsstream {

class CountMin {
 public:
  static constexpr int kMaxDepth = 4;

  CountMin() = default;
  // `depth` at most kMaxDepth, `width` a power of two up to 2^32.
  CountMin(int depth, std::size_t width, std::uint64_t seed)
      : depth_(depth), width_(width), mixed_seed_(mix64(seed)), cells_(static_cast<std::size_t>(depth) * width) {}

  std::size_t bytes() const { return cells_.bytes(); }
  std::span<const float> cells() const { return cells_.span(); }
  std::span<float> cells() { return cells_.span(); }

  float query(Key key) const {
    float least = std::numeric_limits<float>::infinity();
    visit(key, [&](std::size_t cell) { least = std::min(least, cells_[cell]); });
    return least;
  }

  // The sum after adding.
  float add(Key key, float amount) {
    std::size_t places[kMaxDepth];
    locate(key, places);
    return add_at(places, amount);
  }

  // In two steps, for loops that ask memory for many keys before they add to the first: depth() places a key.
  int depth() const { return depth_; }
  void locate(Key key, std::size_t* places) const {
    visit(key, [&](std::size_t cell) { *places++ = cell; });
  }
  void prefetch(const std::size_t* places, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) ask_to_read(cells_.data() + places[i]);
  }
  float add_at(const std::size_t* places, float amount) {
    float least = std::numeric_limits<float>::infinity();
    for (int row = 0; row < depth_; ++row) least = std::min(least, cells_[places[row]]);
    const float sum = least + amount;
    for (int row = 0; row < depth_; ++row) cells_[places[row]] = std::max(cells_[places[row]], sum);
    return sum;
  }

  // The key's sum is at least this.
  void raise(Key key, float sum) {
    visit(key, [&](std::size_t cell) { cells_[cell] = std::max(cells_[cell], sum); });
  }

 private:
  template <class Visit>
  void visit(Key key, Visit visit_cell) const {
    std::uint64_t word = 0;
    for (int row = 0; row < depth_; ++row) {
      word = row % 2 == 0 ? mix64(key ^ (mixed_seed_ + static_cast<std::uint64_t>(row))) : word >> 32;
      visit_cell(static_cast<std::size_t>(row) * width_ + (word & 0xffffffffU & (width_ - 1)));
    }
  }

  int depth_ = 0;
  std::size_t width_ = 0;
  std::uint64_t mixed_seed_ = 0;
  Pages<float> cells_;
};

}  // namespace fsstream

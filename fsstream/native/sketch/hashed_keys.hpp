// HashedKeys: where the keys of a run of entries live in a sketch and in an active set.
//
// Column r < depth holds each key's place in row r of the sketch: the cell in the low bits,
// the sign in bit 31. Column `depth` (a half word that an odd depth leaves over) is the
// home of the key in the active set. Word q of a key is mix64(key ^ seed_q); its low half
// serves column 2q, its high half column 2q + 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/buffer.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

class HashedKeys {
 public:
  void resize(std::size_t columns, std::size_t size) {
    stride_ = size;
    words_.reserve(columns * size + kSlack);
    words_.set_size(columns * size);
  }
  std::size_t stride() const { return stride_; }
  std::uint32_t* column(std::size_t c) { return words_.data() + c * stride_; }
  const std::uint32_t* column(std::size_t c) const { return words_.data() + c * stride_; }
  std::size_t bytes() const { return words_.capacity() * sizeof(std::uint32_t); }

 private:
  Buffer<std::uint32_t> words_;
  std::size_t stride_ = 0;
};

}  // namespace fsstream

// RunningDigest: MurmurHash3_x64_128 of a stream, however it is cut into pieces.
//
// It tells a changed input from the same one; it is no protection against someone who wants to deceive.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "hash/murmur3.hpp"

namespace fsstream {

class RunningDigest {
 public:
  void add(std::string_view bytes) {
    const std::size_t held = size_ % kBlock;
    size_ += bytes.size();
    if (held != 0) {
      const std::size_t taken = std::min(kBlock - held, bytes.size());
      if (taken != 0) std::memcpy(rest_.data() + held, bytes.data(), taken);
      bytes.remove_prefix(taken);
      if (held + taken < kBlock) return;
      mix(rest_.data());
    }
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) mix(bytes.data());
    if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
  }

  // The first and the second 64 bits, of everything so far.
  std::array<std::uint64_t, 2> value() const {
    using namespace murmur3;
    std::uint64_t h1 = h1_;
    std::uint64_t h2 = h2_;
    const std::size_t tail = size_ % kBlock;
    if (tail > 8) h2 ^= scramble2(load_tail(rest_.data() + 8, tail - 8, tail));
    if (tail > 0) h1 ^= scramble1(load_tail(rest_.data(), std::min<std::size_t>(tail, 8), tail > 8 ? 8 : tail));
    h1 ^= size_;
    h2 ^= size_;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    return {h1, h1 + h2};
  }

 private:
  static constexpr std::size_t kBlock = 16;

  void mix(const char* p) {
    using namespace murmur3;
    h1_ = (std::rotl(h1_ ^ scramble1(load64(p)), 27) + h2_) * 5 + 0x52dce729;
    h2_ = (std::rotl(h2_ ^ scramble2(load64(p + 8)), 31) + h1_) * 5 + 0x38495ab5;
  }

  std::uint64_t h1_ = 0;
  std::uint64_t h2_ = 0;
  std::uint64_t size_ = 0;
  std::array<char, kBlock> rest_{};  // size_ % kBlock bytes that do not fill a block yet
};

}  // namespace fsstream

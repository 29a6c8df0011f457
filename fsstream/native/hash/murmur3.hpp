// MurmurHash3_x64_128 (Austin Appleby, public domain algorithm), first 64 bits, seed 0:
// equal to `mmh3.hash64(name, 0, signed=False)[0]`.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fsstream {

namespace murmur3 {

inline constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
inline constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;

inline std::uint64_t load64(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

inline std::uint64_t load32(const char* p) {
  std::uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

// The `count` bytes (1 to 8) at `p`, little-endian, by loads that stay inside the text of `size`
// bytes that ends with them: they may begin before `p`.
inline std::uint64_t load_tail(const char* p, std::size_t count, std::size_t size) {
  if (size >= 8) return load64(p + count - 8) >> (64 - 8 * count);
  if (count >= 4) return load32(p) | load32(p + count - 4) << (8 * count - 32);
  const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
  return byte(0) | byte(count / 2) << (8 * (count / 2)) | byte(count - 1) << (8 * (count - 1));
}

inline std::uint64_t scramble1(std::uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }
inline std::uint64_t scramble2(std::uint64_t k) { return std::rotl(k * kC2, 33) * kC1; }

inline std::uint64_t finish(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33);
}

}  // namespace murmur3

inline std::uint64_t murmur3_64(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  using namespace murmur3;
  const char* p = bytes.data();
  const std::size_t size = bytes.size();
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;
  const char* const blocks_end = p + (size & ~std::size_t{15});
  for (; p != blocks_end; p += 16) {
    h1 = (std::rotl(h1 ^ scramble1(load64(p)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ scramble2(load64(p + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  const std::size_t tail = size & 15;
  if (tail > 8) {
    h2 ^= scramble2(load_tail(p + 8, tail - 8, size));
    h1 ^= scramble1(load64(p));
  } else if (tail > 0) {
    h1 ^= scramble1(load_tail(p, tail, size));
  }
  h1 ^= size;
  h2 ^= size;
  h1 += h2;
  h2 += h1;
  h1 = finish(h1);
  h2 = finish(h2);
  return h1 + h2;
}

}  // namespace fsstream

// What the next 32 bytes are: one bit a byte, the first byte lowest.
//
// The vectors of x86-64's baseline and 64-bit words elsewhere; equal by definition. All 32
// bytes must be readable.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fsstream {

// The bytes one such question reads.
inline constexpr std::size_t kWindow = 32;

namespace window {

#if defined(__SSE2__)

inline __m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

template <class Test>
std::uint32_t ask(const char* p, Test test) {
  const auto low = static_cast<std::uint32_t>(_mm_movemask_epi8(test(load(p))));
  const auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(test(load(p + 16))));
  return low | high << 16;
}

// Digits are moved to the top of the signed range.
inline __m128i no_digit(__m128i bytes) {
  return _mm_cmpgt_epi8(_mm_set1_epi8(0x76), _mm_add_epi8(bytes, _mm_set1_epi8(0x7f - '9')));
}

inline __m128i at_most(__m128i bytes, char c) { return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(c)), bytes); }

inline __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

#else

inline constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
inline constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;

// A test sets the high bit of each byte that passes; the others may be anything.
template <class Test>
std::uint32_t ask(const char* p, Test test) {
  std::uint32_t bits = 0;
  for (unsigned part = 0; part < 4; ++part) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p + 8 * part, 8);
    const std::uint64_t passed = (test(bytes) & kHighBits) >> 7;
    bits |= static_cast<std::uint32_t>((passed * 0x0102040810204080ULL) >> 56) << (8 * part);
  }
  return bits;
}

// `bytes` at least `low`, 1 <= low <= 128, in each byte.
inline std::uint64_t at_least(std::uint64_t bytes, std::uint64_t low) {
  return ((bytes & ~kHighBits) + (128 - low) * kOnes) | bytes;
}

inline std::uint64_t no_digit(std::uint64_t bytes) { return at_least(bytes ^ '0' * kOnes, 10); }
inline std::uint64_t at_most(std::uint64_t bytes, char c) {
  return ~at_least(bytes, static_cast<std::uint64_t>(c) + 1);
}
inline std::uint64_t equal(std::uint64_t bytes, char c) {
  return ~at_least(bytes ^ static_cast<unsigned char>(c) * kOnes, 1);
}

#endif

}  // namespace window

// Bytes that are no digits.
inline std::uint32_t no_digits(const char* p) {
  return window::ask(p, [](auto bytes) { return window::no_digit(bytes); });
}

// Spaces and control characters: every white space, the line feed and NUL among them.
inline std::uint32_t controls(const char* p) {
  return window::ask(p, [](auto bytes) { return window::at_most(bytes, ' '); });
}

inline std::uint32_t equal_to(const char* p, char c) {
  return window::ask(p, [c](auto bytes) { return window::equal(bytes, c); });
}

// What ends the plain characters of a string of JSON: quotes, backslashes, control characters.
inline std::uint32_t no_plain_characters(const char* p) {
  return window::ask(p, [](auto bytes) {
    return window::equal(bytes, '"') | window::equal(bytes, '\\') | window::at_most(bytes, 0x1f);
  });
}

// Bytes of characters that are not ASCII.
inline std::uint32_t no_ascii(const char* p) {
  return window::ask(p, [](auto bytes) { return bytes; });
}

}  // namespace fsstream

// Plain numbers: a few digits, perhaps behind `0.`, whose ends are known.
#pragma once

#include <array>

#include "parse/number.hpp"

namespace fsstream {

[[gnu::always_inline]] inline bool begins_with_zero_point(const char* p) {
  std::uint16_t two;
  std::memcpy(&two, p, 2);
  return two == ('0' | '.' << 8);
}

[[gnu::always_inline]] inline std::uint64_t first_of(std::uint64_t bits) {
  return static_cast<std::uint64_t>(__builtin_ctzll(bits));
}

// 10^places at [places], -10^places at [kNegative + places].
inline constexpr std::uint64_t kNegative = 16;
inline constexpr std::array<float, 32> kFloatScale = {1e0F,  1e1F,  1e2F,  1e3F,  1e4F,  1e5F,  1e6F, 1e7F,  1e8F,
                                                      0,     0,     0,     0,     0,     0,     0,    -1e0F, -1e1F,
                                                      -1e2F, -1e3F, -1e4F, -1e5F, -1e6F, -1e7F, -1e8F};
inline constexpr std::array<double, 32> kScale = {1e0, 1e1, 1e2, 1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  0,    0,    0,   0,
                                                  0,   0,   0,   -1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8};

// digits / the scale; false where rounding that takes more care. Float32 has all integers up to
// 2^24, and the powers: there one division rounds once.
inline bool scale_down(std::uint64_t digits, std::uint64_t scale, float& value) {
  if (digits <= std::uint64_t{1} << 24) [[likely]] {
    value = static_cast<float>(static_cast<std::int32_t>(digits)) / kFloatScale[scale];
    return true;
  }
  return narrow(static_cast<double>(static_cast<std::int64_t>(digits)) / kScale[scale], value);
}

// The whole of [p, stop) as a number, at least 8 bytes being readable at any of its bytes.
inline bool read_plain_value(const char* p, const char* stop, float& value) {
  const bool zero_point = begins_with_zero_point(p);
  const char* const begin = zero_point ? p + 2 : p;
  const auto run = static_cast<std::uint64_t>(stop - begin);
  if (run - 1 > 7) return false;
  const std::uint64_t word = swar::load(begin);
  if (swar::leading_digits(word) < run) return false;
  return scale_down(swar::value_of_digits(word, run), zero_point ? run : 0, value);
}

// The same of up to eight characters, a point anywhere among them or none, behind a minus or none.
inline bool read_plain_decimal(const char* p, const char* stop, float& value) {
  const bool negative = *p == '-';
  p += negative ? 1 : 0;
  auto size = static_cast<std::uint64_t>(stop - p);
  if (size - 1 > 7) return false;
  std::uint64_t digits = swar::load(p);
  std::uint64_t places = 0;
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  const std::uint64_t from_point = digits ^ '.' * kOnes;
  const std::uint64_t points = (from_point - kOnes) & ~from_point & 0x80 * kOnes;  // up to the first they are right
  const auto wholes = static_cast<std::uint64_t>(std::countr_zero(points)) >> 3;
  if (wholes < size) {
    const std::uint64_t in_front = (std::uint64_t{1} << (8 * wholes)) - 1;
    digits = (digits & in_front) | ((digits >> 8) & ~in_front);
    places = --size - wholes;
  }
  if (size == 0 || swar::leading_digits(digits) < size) return false;
  return scale_down(swar::value_of_digits(digits, size), places + (negative ? kNegative : 0), value);
}

}  // namespace fsstream

// Numbers as text. The grammar is the same in every format:
//
//   number = [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]
//   index  = digits, below 2^64
//
// Values are the nearest float32 (or float64) to the decimal text. Not numbers: nan, inf,
// hexadecimal, digits grouped by `_`, and what is beyond the largest finite value; too small
// to be told from zero is zero. No byte at or behind `end` is read.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace fsstream {

// Eight digits at once, in one 64-bit word.
namespace swar {

inline constexpr std::uint64_t kZeros = 0x3030303030303030ULL;

inline std::uint64_t load(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// Eight bytes, zeros from `end` on.
inline std::uint64_t load_before(const char* p, const char* end) {
  if (end - p >= 8) [[likely]]
    return load(p);
  std::uint64_t word = 0;
  std::memcpy(&word, p, static_cast<std::size_t>(end - p));
  return word;
}

// How many of the bytes, from the first on, are digits: 0 to 8.
inline unsigned leading_digits(std::uint64_t word) {
  const std::uint64_t offsets = word ^ kZeros;
  // A carry out of a byte that is no digit can only reach the bytes behind it.
  const std::uint64_t others = ((offsets + 0x7676767676767676ULL) | offsets) & 0x8080808080808080ULL;
  return static_cast<unsigned>(std::countr_zero(others)) >> 3;
}

// The number that the first `count` digits make; 1 <= count <= 8.
inline std::uint64_t value_of_digits(std::uint64_t word, std::uint64_t count) {
  std::uint64_t v = (word ^ kZeros) << (64 - 8 * count);  // leading zeros for those that are missing
  v = v * 10 + (v >> 8);
  constexpr std::uint64_t kPairs = 0x000000ff000000ffULL;
  return ((v & kPairs) * 0x000f424000000064ULL + ((v >> 16) & kPairs) * 0x0000271000000001ULL) >> 32;
}

}  // namespace swar

// The powers of ten that float64 has exactly.
inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t kIntegerPowersOfTen[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// The paths of long numbers and exponents; same contract as their inline fronts.
const char* read_long_index(const char* p, const char* end, std::uint64_t& value);
template <class Real>
const char* read_any_number(const char* p, const char* end, Real& value);

// Reads an index; returns the first byte behind it, or nullptr.
inline const char* read_index(const char* p, const char* end, std::uint64_t& value) {
  const std::uint64_t word = swar::load_before(p, end);
  const unsigned digits = swar::leading_digits(word);
  if (digits == 0) return nullptr;
  if (digits == 8) return read_long_index(p, end, value);
  value = swar::value_of_digits(word, digits);
  return p + digits;
}

// Rounds a float64 that is off by at most 3 units in its last place once more, to float32.
// False near the middle between two float32, where that could go the wrong way.
inline bool narrow(double nearly, float& value) {
  value = static_cast<float>(nearly);
  constexpr std::uint64_t kCutOff = (std::uint64_t{1} << 29) - 1;
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << 28;
  return ((std::bit_cast<std::uint64_t>(nearly) + 4 - kMiddle) & kCutOff) > 8;
}
inline bool narrow(double rounded, double& value) {
  value = rounded;
  return true;
}

// Reads a number of up to 7 digits, and up to 8 behind a point, without exponent; nullptr at any other.
template <class Real>
inline const char* read_short_number(const char* p, const char* end, Real& value) {
  const char* q = p;
  const bool negative = q != end && *q == '-';
  if (q != end && (*q == '-' || *q == '+')) ++q;
  const std::uint64_t whole = swar::load_before(q, end);
  const unsigned wholes = swar::leading_digits(whole);
  if (wholes == 8) return nullptr;
  std::uint64_t digits = wholes == 0 ? 0 : swar::value_of_digits(whole, wholes);
  q += wholes;
  unsigned fractions = 0;
  if (q != end && *q == '.') {
    const std::uint64_t fraction = swar::load_before(++q, end);
    fractions = swar::leading_digits(fraction);
    if (fractions != 0) digits = digits * kIntegerPowersOfTen[fractions] + swar::value_of_digits(fraction, fractions);
    q += fractions;
  }
  // Up to 15 digits and a power of ten up to 10^8 are exact in float64, so one division rounds once.
  if (wholes + fractions == 0) return nullptr;
  if (q != end && ((*q | 0x20) == 'e' || (fractions == 8 && *q >= '0' && *q <= '9'))) return nullptr;
  if (!narrow(static_cast<double>(digits) / kPowersOfTen[fractions], value)) return nullptr;
  if (negative) value = -value;
  return q;
}

// Reads a number; returns the first byte behind it, or nullptr.
template <class Real>
inline const char* read_number(const char* p, const char* end, Real& value) {
  const char* const behind = read_short_number(p, end, value);
  return behind != nullptr ? behind : read_any_number(p, end, value);
}

// True, and the number, when the whole text is one.
template <class Real>
inline bool is_number(std::string_view text, Real& value) {
  const char* const end = text.data() + text.size();
  return read_number(text.data(), end, value) == end;
}

// For a value that is no number and nothing better is known of.
inline constexpr const char* kDecimalHint = "a value is a decimal number, such as 2, -0.5 or 1e-3";

// Why the text at `p` is no number (read_number failed there): the byte at which that shows,
// and a hint, or nullptr when only the reader's format knows what to say.
struct NotNumber {
  const char* at;
  const char* hint;
};
NotNumber why_no_number(const char* p, const char* end);

// The same for read_index.
NotNumber why_no_index(const char* p, const char* end);

}  // namespace fsstream

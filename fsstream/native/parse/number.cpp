#include "parse/number.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace fsstream {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_digits(const char* p, const char* end) {
  while (p != end && is_digit(*p)) ++p;
  return p;
}

// The parts of a number's text. `fault` is the byte at which it stops being one.
struct Spelling {
  const char* digits;           // behind the sign
  const char* point = nullptr;  // the point, if there is one
  const char* mantissa_end = nullptr;
  const char* end = nullptr;
  const char* fault = nullptr;
};

Spelling spell(const char* p, const char* end) {
  Spelling number;
  if (p != end && (*p == '-' || *p == '+')) ++p;
  number.digits = p;
  p = skip_digits(p, end);
  std::size_t count = static_cast<std::size_t>(p - number.digits);
  if (p != end && *p == '.') {
    number.point = p;
    const char* const fraction = p + 1;
    p = skip_digits(fraction, end);
    count += static_cast<std::size_t>(p - fraction);
  }
  if (count == 0) {
    number.fault = p;
    return number;
  }
  number.mantissa_end = p;
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '-' || *p == '+')) ++p;
    const char* const exponent = p;
    p = skip_digits(p, end);
    if (p == exponent) number.fault = p;
  }
  number.end = p;
  return number;
}

// The power of ten of the first digit that is not zero; clamped, since only its sign is used.
// Of a number that is zero or far from 1.
std::int64_t magnitude(const Spelling& number) {
  const char* const point = number.point == nullptr ? number.mantissa_end : number.point;
  const char* first = number.digits;
  while (first != number.mantissa_end && (*first == '0' || *first == '.')) ++first;
  if (first == number.mantissa_end) return -1;
  std::int64_t exponent = 0;
  if (number.end != number.mantissa_end) {
    const char* p = number.mantissa_end + 1;
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    for (; p != number.end; ++p) exponent = std::min<std::int64_t>(exponent * 10 + (*p - '0'), std::int64_t{1} << 40);
    if (negative) exponent = -exponent;
  }
  return exponent + (point - first);
}

}  // namespace

const char* read_long_index(const char* p, const char* end, std::uint64_t& value) {
  const char* const begin = p;
  std::uint64_t number = 0;
  for (; p != end && is_digit(*p); ++p) {
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number)) return nullptr;
    if (__builtin_add_overflow(number, static_cast<std::uint64_t>(*p - '0'), &number)) return nullptr;
  }
  value = number;
  return p == begin ? nullptr : p;
}

template <class Real>
const char* read_any_number(const char* p, const char* end, Real& value) {
  const Spelling number = spell(p, end);
  if (number.fault != nullptr) return nullptr;
  Real magnitude_read = 0;
  const std::errc error = std::from_chars(number.digits, number.end, magnitude_read).ec;
  if (error == std::errc::result_out_of_range || std::isinf(magnitude_read)) {
    if (magnitude(number) > 0) return nullptr;
    magnitude_read = 0;
  }
  value = *p == '-' ? -magnitude_read : magnitude_read;
  return number.end;
}

template const char* read_any_number(const char*, const char*, float&);
template const char* read_any_number(const char*, const char*, double&);

NotNumber why_no_number(const char* p, const char* end) {
  const Spelling number = spell(p, end);
  if (number.fault == nullptr) return {p, "the number is beyond the range of 32-bit floating point"};
  const char* const at = number.fault;
  const bool letters = end - at >= 3 && at == number.digits;
  const auto spells = [at](const char* word) {
    for (int i = 0; i < 3; ++i)
      if ((at[i] | 0x20) != word[i]) return false;
    return true;
  };
  if (letters && (spells("nan") || spells("inf")))
    return {at, "nan and inf are not values: leave the feature out where it is unknown"};
  return {at, nullptr};
}

NotNumber why_no_index(const char* p, const char* end) {
  if (p != end && is_digit(*p)) return {p, "an index is below 2^64"};
  if (p != end && (*p == '-' || *p == '+')) return {p, "an index is written without a sign"};
  return {p, nullptr};
}

}  // namespace fsstream

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

// Up to 19 digits and a power of ten, which is what nearly all numbers are.
struct ShortDecimal {
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* end = nullptr;  // nullptr: not a number, or more than fits
};

// Appends a run of digits to `digits`; nullptr when they are too many.
const char* append_digits(const char* p, const char* end, std::uint64_t& digits) {
  // 10^(19 - count): what may stand before `count` more digits.
  static constexpr std::uint64_t kRoom[] = {0,
                                            1000000000000000000,
                                            100000000000000000,
                                            10000000000000000,
                                            1000000000000000,
                                            100000000000000,
                                            10000000000000,
                                            1000000000000,
                                            100000000000};
  while (true) {
    const std::uint64_t word = swar::load_before(p, end);
    const unsigned count = swar::leading_digits(word);
    if (count == 0) return p;
    if (digits >= kRoom[count]) return nullptr;
    digits = digits * kIntegerPowersOfTen[count] + swar::value_of_digits(word, count);
    p += count;
    if (count < 8) return p;
  }
}

// Reads `e+12` where it stands; nullptr when it is not complete or has more than 3 digits.
const char* read_exponent(const char* p, const char* end, int& exponent) {
  if (p == end || (*p | 0x20) != 'e') return p;
  ++p;
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const last = skip_digits(p, end);
  if (last == p || last - p > 3) return nullptr;
  int value = 0;
  for (; p != last; ++p) value = value * 10 + (*p - '0');
  exponent += negative ? -value : value;
  return last;
}

// Of the number behind its sign.
ShortDecimal read_short(const char* p, const char* end) {
  ShortDecimal number;
  const char* q = append_digits(p, end, number.digits);
  if (q == nullptr) return {};
  std::ptrdiff_t count = q - p;
  if (q != end && *q == '.') {
    const char* const fraction = ++q;
    q = append_digits(q, end, number.digits);
    if (q == nullptr || q - fraction > 64) return {};
    number.exponent = -static_cast<int>(q - fraction);
    count += q - fraction;
  }
  if (count == 0) return {};
  number.end = read_exponent(q, end, number.exponent);
  return number;
}

// digits * 10^exponent, off by at most 3 units of its last place; false when too far from 1.
bool scale(const ShortDecimal& number, double& value) {
  constexpr int kExact = 22;
  const int exponent = number.exponent;
  const auto digits = static_cast<double>(number.digits);
  if (exponent < -2 * kExact || exponent > kExact) return false;
  if (exponent >= 0)
    value = digits * kPowersOfTen[exponent];
  else if (exponent >= -kExact)
    value = digits / kPowersOfTen[-exponent];
  else
    value = digits / kPowersOfTen[kExact] / kPowersOfTen[-exponent - kExact];
  return true;
}

bool round_short(const ShortDecimal& number, float& value) {
  double nearly;
  if (!scale(number, nearly)) return false;
  const bool normal = nearly == 0 || (nearly > 0x1p-126 && nearly < 0x1p127);
  return normal && narrow(nearly, value);
}

// Exact digits and one exact power make one rounding.
bool round_short(const ShortDecimal& number, double& value) {
  if (number.digits > std::uint64_t{1} << 53 || number.exponent < -22) return false;
  return scale(number, value);
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
  const char* const behind_sign = p != end && (*p == '-' || *p == '+') ? p + 1 : p;
  const ShortDecimal decimal = read_short(behind_sign, end);
  if (decimal.end != nullptr && round_short(decimal, value)) {
    if (*p == '-') value = -value;
    return decimal.end;
  }
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

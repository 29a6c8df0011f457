// Identity: a name that is a canonical decimal number below 2^64 is that number;
// any other name is its MurmurHash3. The same in every format, so that a model trained
// on one format predicts on another.
#pragma once

#include <cstdint>
#include <string_view>

#include "hash/murmur3.hpp"

namespace fsstream {

// True, and the number, when `name` is what printing a 64-bit number gives.
inline bool canonical_decimal(std::string_view name, std::uint64_t& number) {
  if (name.empty() || name.size() > 20) return false;
  if (name[0] == '0') {
    number = 0;
    return name.size() == 1;
  }
  std::uint64_t value = 0;
  for (const char c : name) {
    const auto digit = static_cast<unsigned char>(c - '0');
    if (digit > 9) return false;
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, std::uint64_t{digit}, &value)) return false;
  }
  number = value;
  return true;
}

inline std::uint64_t key_of_name(std::string_view name) {
  std::uint64_t number;
  // Most names begin with a letter: one test settles those.
  const bool digit_first = !name.empty() && static_cast<unsigned char>(name[0] - '0') <= 9;
  return digit_first && canonical_decimal(name, number) ? number : murmur3_64(name);
}

}  // namespace fsstream

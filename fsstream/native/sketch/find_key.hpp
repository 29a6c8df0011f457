// One key in the buckets of an active set, in plain C++.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sketch/row_kernels.hpp"

namespace fsstream {

// All of a bucket is compared, those that are not used, too: where the search ends is hard to guess for a processor.
inline std::uint32_t find_key(const KeyBuckets& buckets, std::uint64_t key, std::uint32_t home) {
  for (std::uint32_t bucket = home & buckets.mask;; bucket = (bucket + 1) & buckets.mask) {
    const std::uint64_t* keys = buckets.keys + std::size_t{bucket} * KeyBuckets::kSize;
    std::uint64_t same = 0;
    for (std::uint32_t i = 0; i < KeyBuckets::kSize; ++i) same |= keys[i] == key ? std::uint64_t{1} << i : 0;
    const std::uint32_t used = buckets.used[bucket];
    same &= (std::uint64_t{1} << used) - 1;
    if (((KeyBuckets::kSize - used) | same) == 0) [[unlikely]]
      continue;
    const std::uint32_t none = std::uint32_t{same != 0} - 1;  // kNone or 0
    return (bucket * KeyBuckets::kSize + static_cast<std::uint32_t>(std::countr_zero(same))) | none;
  }
}

}  // namespace fsstream

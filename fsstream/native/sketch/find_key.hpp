// One key in the buckets of an active set, in plain C++.
#pragma once

#include <cstdint>

#include "sketch/row_kernels.hpp"

namespace fsstream {

inline std::uint32_t find_key(const KeyBuckets& buckets, std::uint64_t key, std::uint32_t home) {
  for (std::uint32_t bucket = home & buckets.mask;; bucket = (bucket + 1) & buckets.mask) {
    const std::uint64_t* keys = buckets.keys + std::size_t{bucket} * KeyBuckets::kSize;
    const std::uint32_t used = buckets.used[bucket];
    for (std::uint32_t i = 0; i < used; ++i)
      if (keys[i] == key) return bucket * KeyBuckets::kSize + i;
    if (used < KeyBuckets::kSize) return KeyBuckets::kNone;
  }
}

}  // namespace fsstream

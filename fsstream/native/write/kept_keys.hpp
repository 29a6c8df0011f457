// KeptKeys: the features a stream is reduced to. A small filter tells most others at one probe.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "core/feature_index.hpp"

namespace fsstream {

class KeptKeys {
 public:
  static constexpr std::uint32_t kNone = FeatureIndex::kNone;

  // Feature i is the one with keys[i]; each key occurs once.
  explicit KeptKeys(std::span<const Key> keys)
      : filter_(std::bit_ceil(kBitsPerFeature * keys.size() / 64 + 1)), mask_(64 * filter_.size() - 1) {
    for (const Key key : keys) {
      index_.insert(key);
      const std::uint64_t bit = mix64(key) >> kFilterShift & mask_;
      filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }

  std::size_t size() const { return index_.size(); }

  // The number of the feature, or kNone.
  std::uint32_t find(Key key) const {
    const std::uint64_t bit = mix64(key) >> kFilterShift & mask_;
    if ((filter_[bit / 64] >> (bit % 64) & 1) == 0) return kNone;
    return index_.find(key);
  }

 private:
  static constexpr std::size_t kBitsPerFeature = 32;
  static constexpr int kFilterShift = 24;  // other bits than those that choose the slot

  FeatureIndex index_;
  std::vector<std::uint64_t> filter_;
  std::uint64_t mask_;
};

}  // namespace fsstream

// The order in which weights are kept: the larger |w| first; ties go to the smaller key.
#pragma once

#include <cmath>

namespace fsstream {

// What has left the range of numbers comes last: sorting needs an order whatever happens.
inline float size_of(float weight) { return std::isnan(weight) ? -1.0F : std::fabs(weight); }

struct LargerFirst {
  template <class Weighted>
  bool operator()(const Weighted& a, const Weighted& b) const {
    const float size_a = size_of(a.weight);
    const float size_b = size_of(b.weight);
    return size_a != size_b ? size_a > size_b : a.key < b.key;
  }
};

}  // namespace fsstream

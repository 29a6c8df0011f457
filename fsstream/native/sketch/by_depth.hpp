// Depths that sketches may have, as constants of the compiler. Static, as wide_lanes.hpp says why.
#pragma once

#include <stdexcept>
#include <type_traits>

namespace fsstream {

// pick(std::integral_constant<int, depth>()).
template <class Pick>
static inline auto by_depth(int depth, Pick pick) {
  switch (depth) {
    case 1:
      return pick(std::integral_constant<int, 1>());
    case 3:
      return pick(std::integral_constant<int, 3>());
    case 5:
      return pick(std::integral_constant<int, 5>());
    case 7:
      return pick(std::integral_constant<int, 7>());
    default:
      throw std::invalid_argument("the depth of a sketch is 1, 3, 5 or 7");
  }
}

}  // namespace fsstream

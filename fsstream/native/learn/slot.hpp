// Slot: the place of a feature in a learner's table.
#pragma once

#include <cstdint>
#include <limits>

namespace fsstream {

using Slot = std::uint32_t;
inline constexpr Slot kNobody = std::numeric_limits<Slot>::max();

}  // namespace fsstream

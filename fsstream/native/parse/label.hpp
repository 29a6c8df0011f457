// Labels as text: kept as written, and as a number where they are one.
#pragma once

#include <limits>
#include <string_view>

#include "parse/number.hpp"

namespace fsstream {

// The label's number, NaN when it is not one (or is nan, inf or out of range).
inline double label_number(std::string_view label) {
  double number;
  return is_number(label, number) ? number : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fsstream

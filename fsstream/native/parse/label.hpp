// Labels as text: kept as written, and as a number where they are one.
#pragma once

#include <limits>
#include <string_view>

#include "parse/fields.hpp"
#include "parse/number.hpp"

namespace fsstream {

inline constexpr Fault kNoLabel{"a label", "a line begins with its label"};

// The label's number, NaN when it is not one (or is nan, inf or out of range).
inline double label_number(std::string_view label) {
  double number;
  return is_number(label, number) ? number : std::numeric_limits<double>::quiet_NaN();
}

// Whether the first field of a line is `name:value`, so that the label is missing.
inline bool is_entry(std::string_view field) {
  const std::size_t colon = field.rfind(':');
  float value;
  return colon != std::string_view::npos && colon != 0 && is_number(field.substr(colon + 1), value);
}

// Ends the row of the record at `begin` under a label of the batch's text.
inline void end_row(Batch& batch, const char* begin, std::string_view label, float importance = 1.0F) {
  batch.end_row(ref_to(batch, label.data(), label.data() + label.size()), label_number(label), importance,
                static_cast<std::uint32_t>(begin - batch.text));
}

}  // namespace fsstream

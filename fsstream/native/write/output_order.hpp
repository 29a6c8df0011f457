// The order in which selected features are written, and the numbers that are written of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fsstream {

// Places of features: list after list, larger |weight| first, then the name in byte order. Without `lists` there is
// one; else it gives the number of each feature's.
std::vector<std::uint32_t> output_order(std::span<const std::string_view> names, std::span<const float> weights,
                                        std::span<const std::uint32_t> lists);

// The double that is written as the float is: with the fewest digits that tell it from other floats.
double as_written(float number);

}  // namespace fsstream

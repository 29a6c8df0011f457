#include "write/output_order.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

#include "core/larger_first.hpp"
#include "write/text_buffer.hpp"

namespace fsstream {

std::vector<std::uint32_t> output_order(std::span<const std::string_view> names, std::span<const float> weights,
                                        std::span<const std::uint32_t> lists) {
  const auto rank = [&](std::uint32_t i) {
    return std::tuple(lists.empty() ? 0 : lists[i], -size_of(weights[i]), names[i], i);
  };
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  return order;
}

double as_written(float number) {
  TextBuffer text;
  text.add_number(number);
  double written = 0;
  std::from_chars(text.view().data(), text.view().data() + text.size(), written);
  return written;
}

}  // namespace fsstream

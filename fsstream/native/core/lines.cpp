#include "core/lines.hpp"

#include <algorithm>
#include <cstdint>

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

// Byte-wide counters vectorise; 255 rounds of 64 is the most they hold.
std::size_t counted(std::string_view text) {
  constexpr std::size_t kLanes = 64;
  const char* data = text.data();
  std::size_t left = text.size();
  std::size_t lines = 0;
  while (left >= kLanes) {
    const std::size_t rounds = std::min<std::size_t>(left / kLanes, 255);
    std::uint8_t counts[kLanes] = {};
    for (std::size_t r = 0; r < rounds; ++r, data += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        counts[lane] = static_cast<std::uint8_t>(counts[lane] + (data[lane] == '\n'));
    }
    for (const std::uint8_t count : counts) lines += count;
    left -= rounds * kLanes;
  }
  return lines + static_cast<std::size_t>(std::count(data, data + left, '\n'));
}

}  // namespace

std::size_t count_lines(std::string_view text) {
  static const auto best = Compiled<&counted>::best();
  return best(text);
}

}  // namespace fsstream

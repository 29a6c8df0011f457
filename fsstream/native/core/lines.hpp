// Lines of a text, counted at the speed of memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace fsstream {

// How many '\n' there are.
std::size_t count_lines(std::string_view text);

}  // namespace fsstream

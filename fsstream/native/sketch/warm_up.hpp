// Asks the caches for what learning a run of entries will touch, while there is time: a look-up that
// misses waits for one cache line, many requests at once wait for all of them together.
#pragma once

#include <cstddef>

#include "sketch/row_kernels.hpp"

namespace fsstream {

void warm_up_values(const float* values, std::size_t count);
// Every cell of the entries, of a sketch that is too large for the caches.
void warm_up(const SketchRows& rows, int depth, std::size_t count);

}  // namespace fsstream

// Asks the caches for what learning a run of entries will touch, while there is time: a look-up that
// misses waits for one cache line, many requests at once wait for all of them together.
#pragma once

#include <cstddef>

#include "core/batch.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

// The values of the run of `size` entries from `first` on; and all that the run behind it will read: what another core
// has parsed may be far away.
void warm_up_run(const Batch& batch, std::size_t first, std::size_t size);
// Every cell of the entries, of a sketch that is too large for the caches.
void warm_up(const SketchRows& rows, int depth, std::size_t count);

}  // namespace fsstream

// Rows moved from batch to batch: what cutting, shuffling and merging streams is made of.
#pragma once

#include <cstddef>

#include "core/batch.hpp"

namespace fsstream {

// Appends row `row` of `from` to `to`, whose arena gets the texts. An empty `to` takes over the
// naming, any other must have it already.
void append_row(const Batch& from, std::size_t row, Batch& to);

// Appends entries [begin, end) of `from` to the row that is being built in `to`, names included.
void append_entries(const Batch& from, std::size_t begin, std::size_t end, Batch& to);

// All rows of a batch in another one, whose texts lie where they lay.
Batch copy_of(const Batch& from);

// Whether rows of `from` may follow what is in `to`.
bool same_naming(const Batch& from, const Batch& to);

}  // namespace fsstream

// Seeded orders, the same on every machine, and rows put into them.
#pragma once

#include <cstdint>
#include <span>

#include "core/batch.hpp"

namespace fsstream {

// Fills `order` with 0 .. size-1 in an order that depends on the seed alone (Fisher-Yates).
void shuffled_order(std::uint64_t seed, std::span<std::uint64_t> order);

// Rows of several batches, counted through them one after the other, in the order asked for.
// Appends to `out` from order[at] on until it holds `max_entries` or the order ends; the next `at`.
std::size_t gather_rows(std::span<const Batch* const> batches, std::span<const std::uint64_t> order, std::size_t at,
                        std::size_t max_entries, Batch& out);

}  // namespace fsstream

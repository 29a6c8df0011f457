// Pairs of a row's features as features of their own: x_a x_b under the name `a*b`.
//
// The smaller name in byte order stands first; `*` and `\` inside a name are escaped with `\`, in
// single features beside products as well (fsstream/pairs.py).
#pragma once

#include <cstddef>

#include "core/batch.hpp"
#include "hash/mix.hpp"

namespace fsstream {

// The key of a product: of the two factors', whichever comes first.
inline Key pair_key(Key a, Key b) {
  const Key low = a < b ? a : b;
  const Key high = a < b ? b : a;
  return mix64(mix64(low) + high);
}

// Appends rows of `from`, each with all its pairs, to the empty `to`, until `to` has `enough` entries or
// the rows end; returns the first row that is left. A row with more than `most` pairs is a
// LimitExceeded; `row_number` is the number of the first row, for the message.
std::size_t append_pairs(const Batch& from, std::size_t first, std::size_t enough, std::size_t most,
                         std::size_t row_number, Batch& to);

}  // namespace fsstream

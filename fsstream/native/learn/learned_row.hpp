// LearnedRow: the entries of a row as a learner sees them, of a batch or made for it (learn/column_means.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/batch.hpp"

namespace fsstream {

// Where in the batch the entries have their names: one after the other, or `sources` says.
struct LearnedRow {
  const Key* keys;
  const float* values;
  std::size_t size;
  std::size_t hashed;  // the first of them among those that were hashed
  std::size_t first;
  const std::uint32_t* sources;

  std::size_t source(std::size_t entry) const { return sources == nullptr ? first + entry : sources[entry]; }
};

}  // namespace fsstream

// Runs: the rows of a batch whose entries are hashed at once.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/batch.hpp"

namespace fsstream {

// Enough entries to fill wide registers, few enough that what they ask for stays in the second cache until it is used.
inline constexpr std::size_t kRunEntries = 512;

struct RowRun {
  std::size_t end;      // the row after the last
  std::size_t longest;  // entries of a row
};

// From a row on as many as have so many entries together, at least one.
inline RowRun run_from(const Batch& batch, std::size_t row, std::size_t entries = kRunEntries) {
  const std::size_t first = batch.row_begin(row);
  RowRun run{row, 0};
  do {
    run.longest = std::max(run.longest, batch.row_end(run.end) - batch.row_begin(run.end));
    ++run.end;
  } while (run.end < batch.rows() && batch.row_end(run.end) - first <= entries);
  return run;
}

}  // namespace fsstream

// Rows that a learner holds, as arrays of its state: those that wait for the rest of their mini-batch, and kept ones.
#pragma once

#include "core/batch.hpp"
#include "core/state.hpp"

namespace fsstream {

// Keys, values and names, those of rows one after the other.
void save_entries(const Batch& rows, StateWriter& out);
// Into an empty batch.
void load_entries(const StateReader& in, Batch& rows);

// Entries, and where rows begin, targets and importance.
void save_rows(const Batch& rows, StateWriter& out);
void load_rows(const StateReader& in, Batch& rows);

}  // namespace fsstream

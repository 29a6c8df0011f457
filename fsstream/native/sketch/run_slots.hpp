// RunSlots: which keys of a run of entries are active, and in which slots.
//
// All keys of the run are looked up before its first row is learned, so that memory is asked for
// many lines at once. Rows of the run change the set; what they change is mended here: a key that
// enters is marked in the rows to come, and after a prune these are looked up again. Not in the row itself: that may
// be the whole run, and as many may enter as it has entries.
#pragma once

#include <cstdint>

#include "core/buffer.hpp"
#include "sketch/active_set.hpp"
#include "sketch/run_kernels.hpp"

namespace fsstream {

class RunSlots {
 public:
  // The run must stay where it is until the next one is looked up.
  void look_up(const ActiveSet& active, const RunEntries& run, std::size_t count) {
    run_ = run;
    count_ = count;
    slots_.reserve(count + kSlack);
    maybe_.reserve(count + kSlack);
    look_up_again(active, 0);
  }
  // After a prune: entries before `first` have been learned.
  void look_up_again(const ActiveSet& active, std::size_t first) {
    const BlockRows& places = run_.places;
    const RunEntries rest{run_.keys + first, {places.cells, places.blocks + first, places.bits + first}};
    kernels_.look_up(active.buckets(), rest, count_ - first, maybe_.data(), slots_.data() + first);
  }
  // The key entered.
  void mark(Key key, std::uint32_t slot, std::size_t first) {
    kernels_.mark(run_.keys + first, count_ - first, key, slot, slots_.data() + first);
  }

  // Parts a row of the run by what is active; see RunKernels.
  std::size_t part_row(std::size_t first, std::size_t size, const float* values, const PartedRow& out) const {
    const RowEntries row{slots_.data() + first, run_.places.blocks + first, run_.places.bits + first, values};
    return kernels_.part_row(row, size, out);
  }

 private:
  RunEntries run_{};
  std::size_t count_ = 0;
  Buffer<std::uint32_t> slots_;
  Buffer<std::uint32_t> maybe_;  // entries of the run
  const RunKernels& kernels_ = run_kernels();
};

}  // namespace fsstream

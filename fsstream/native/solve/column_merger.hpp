// ColumnMerger: sorted runs of columns -> one stream of columns, each whole, in the order of the
// keys. The runs arrive chunk by chunk (see core/spool.hpp), whenever one is used up.
#pragma once

#include <cstddef>
#include <memory>
#include <queue>
#include <string_view>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

class ColumnMerger {
 public:
  // Runs are numbered in the order of their samples. With `kmers`, names are k-mers and keys their code.
  ColumnMerger(std::size_t runs, bool kmers) : runs_(runs), kmers_(kmers) {}
  ColumnMerger(const ColumnMerger&) = delete;
  ColumnMerger& operator=(const ColumnMerger&) = delete;

  // The next chunk of a run that has nothing left; `owner` keeps it alive.
  void feed(std::size_t run, std::string_view chunk, std::shared_ptr<const void> owner);

  // Appends columns to `out` until it has `max_entries` or a run has nothing left. The runs to feed
  // before going on; those that have ended are not fed again.
  std::vector<std::size_t> merge(std::size_t max_entries, Batch& out);
  bool done() const { return heads_.empty(); }

  // Columns whose parts had different names for one key.
  std::uint64_t collisions() const { return collisions_; }

 private:
  struct Run {
    Batch batch;
    std::size_t row = 0;
  };
  struct Head {
    Key key;
    std::size_t run;
    // The smallest key first, then the earliest samples.
    bool operator<(const Head& other) const { return key != other.key ? key > other.key : run > other.run; }
  };
  Key key_of(std::string_view name) const;
  std::string_view name_of(const Head& head) const;
  // Takes the column at the head of a run; false when that run has nothing left.
  bool advance(std::size_t run, Batch& out);
  void put_head(std::size_t run);

  std::vector<Run> runs_;
  std::priority_queue<Head> heads_;
  bool kmers_;
  std::uint64_t collisions_ = 0;
};

}  // namespace fsstream

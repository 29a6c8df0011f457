// KeptRows: the rows of a stream, as long as all of them fit into some memory.
//
// What a short stream says need not be taken from one look at each row. One row too many, and none is kept:
// a stream that does not fit is learned as if there were no such room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/batch.hpp"
#include "core/state.hpp"

namespace fsstream {

class KeptRows {
 public:
  // Room in bytes; 0 keeps nothing.
  explicit KeptRows(std::size_t room) : room_(room), whole_(room > 0) {}

  // Whether all rows that were met are here.
  bool whole() const { return whole_; }
  const Batch& rows() const { return rows_; }
  std::size_t bytes() const { return rows_.entries() * kEntry + rows_.rows() * kRow; }

  // Of features, ascending, over all rows; there is at least one.
  std::vector<double> means(std::span<const Key> features) const;

  void add(const Batch& batch);
  void drop();

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  static constexpr std::size_t kEntry = sizeof(Key) + sizeof(float);
  static constexpr std::size_t kRow = 64;  // start, target, importance, and what else a batch has of a row

  std::size_t room_;
  bool whole_;
  Batch rows_;  // keys, not names
};

}  // namespace fsstream

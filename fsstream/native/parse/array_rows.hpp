// ArrayRows: rows that are numbers already (a matrix, a columnar file) -> Batch.
//
//   row_starts  [rows + 1]   entries of row r are row_starts[r] .. row_starts[r+1]
//   columns     [entries]    the feature: its key, or its place in the table of names
//   values      [entries]
//
// There is no text: the batch is given one line feed a row, so that places in it count rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

struct RowArrays {
  std::span<const std::uint64_t> row_starts;
  std::span<const std::uint64_t> columns;
  std::span<const float> values;
  std::span<const std::uint32_t> labels;  // places in the table of labels
  std::span<const float> importance;      // empty: 1
};

class ArrayRows {
 public:
  // Columns are keys, named by their decimals.
  ArrayRows() = default;
  // Columns are places in this table.
  explicit ArrayRows(const std::vector<std::string>& names);

  // Fills a batch that has been started. Entries of one feature in a row add up; a row with a value or
  // a sum that is no finite number is a bad record. Throws BadInput for arrays that do not fit together.
  void fill(Batch& batch, const RowArrays& rows, const std::vector<std::string>& labels);

 private:
  void check(const Batch& batch, const RowArrays& rows, std::size_t labels) const;
  void add(Batch& batch, std::uint64_t column, float value);
  // The name of a column in this batch: composed when it is met for the first time.
  TextRef name_of(Batch& batch, std::uint64_t column);
  bool finish(Batch& batch, std::size_t row);

  bool named_ = false;
  std::string names_;  // one after the other
  std::vector<std::size_t> ends_;
  std::vector<Key> keys_;
  std::vector<TextRef> composed_;
  std::vector<std::uint32_t> batch_of_;  // the batch composed_ is of
  std::uint32_t batches_ = 0;
  RowMerge merge_;
};

}  // namespace fsstream

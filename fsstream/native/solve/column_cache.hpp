// ColumnCache: the columns of the features that were chosen so far, the cache of section 5.5.
//
// A column is collected row after row, then sealed: dense (one float a row) or sparse
// (row and value of each entry), whichever takes fewer bytes. Sums run in a fixed order
// over a fixed number of lanes, so they have the same bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/buffer.hpp"

namespace fsstream {

class ColumnCache {
 public:
  // Throws LimitExceeded when its columns would take more bytes than `limit`.
  ColumnCache(std::size_t rows, std::size_t limit) : rows_(rows), limit_(limit) {}
  ColumnCache(const ColumnCache&) = delete;
  ColumnCache& operator=(const ColumnCache&) = delete;

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t entries(std::size_t column) const { return columns_[column].entries; }
  bool dense(std::size_t column) const { return columns_[column].dense; }

  // Opens an empty column and gives its number.
  std::size_t open();
  // Appends an entry; rows ascend within a column.
  void append(std::size_t column, std::uint32_t row, float value);
  // The column is complete: takes the smaller form and gives back what was over-allocated.
  void seal(std::size_t column);
  // Frees a column that will not be used again; its number stays taken.
  void drop(std::size_t column);
  // Moves a column out of another cache of as many rows; gives its number here.
  std::size_t take(ColumnCache& other, std::size_t column);

  // sum over rows of r[i] x[i]
  double dot(std::size_t column, std::span<const double> r) const;
  // u[i] += a x[i]
  void add(std::size_t column, double a, std::span<double> u) const;
  // sum over rows of cost[i] x[i]^2
  double square_sum(std::size_t column, std::span<const double> cost) const;

 private:
  struct Column {
    Buffer<std::uint32_t> rows;  // empty when dense
    Buffer<float> values;
    std::size_t entries = 0;
    std::size_t bytes = 0;
    bool dense = false;
  };
  void account(Column& column);

  std::size_t rows_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::vector<Column> columns_;
};

}  // namespace fsstream

// ColumnMeans: in a table, a value counts by how far it is from the mean of its column.
//
// Why. Columns of positive numbers that most rows have make all rows point the same way. With 3,000 of them each step
// moves the score of every row to come by far more than what tells rows apart, and nothing is learned but the label of
// the last row. So a column of a table counts as x - m, m its mean over the rows so far, this one and those without the
// column included:
//
//   V += h,  m += (x - m) h / V,  s2 the mean of (x - m)^2      h: importance of the row; V fades where evidence does
//
// A row that has no entry in the column has 0 there, and gets one of -m. What a model writes is as before: weights of
// x, and an intercept less the sum of w m.
//
// What is a column. After t rows, what at most 2 + 3 t / 4 of them were without. What is in none of the first twelve
// rows is no column.
//
// What is a table. A stream of whose entries after the first row more than two thirds are in columns that were known by
// then, less a sixth of a row, since the second row can only know the first: of its entries more than half must be.
// Text is no table from its second row on, and from there on is learned as if nothing had been asked. A row without
// entries is not counted as one of the first two.
//
// Units. The unit of a column that is not active is s, which is known here; a pair of evidence may be shared by two
// columns, and of two that met in one the larger had the other's unit: of 3,000 columns some outgrew all others. An
// active column takes s as its unit where its values first differ: the first row is learned as it is, and of 10,000,
// 10,001, 9,999 only the differences are to count. Where m ceases to be taken off, the square of the unit grows by m^2.
//
// Where m begins or ceases to be taken off the intercept must change by w m, for the score to stay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "core/feature_index.hpp"
#include "core/state.hpp"

namespace fsstream {

class ColumnMeans {
 public:
  static constexpr std::uint32_t kNowhere = FeatureIndex::kNone;
  static constexpr std::size_t kShareOfMemory = 4;  // whatever the rest takes, so that blocks change nothing

  // What is taken off the values of a column has changed, but not with its mean.
  struct Change {
    Key key;
    double by;
    double square;  // by how much the mean square of what is left grows
  };
  // A column whose values have been the same until this row.
  struct Beginning {
    Key key;
    float value;  // in this row, less the mean
    float variance;
  };

  // Columns that take more bytes than there is room for are none.
  ColumnMeans(bool wanted, std::size_t room) : on_(wanted), room_(room) {}

  // Whether the stream is a table so far as is known.
  bool on() const { return on_; }
  // Takes in a row to be learned, if it has an importance, and makes what is learned of it.
  void meet(const Batch& batch, std::size_t row, double forget);
  std::span<const Change> changes() const { return changes_; }
  std::span<const Beginning> beginnings() const { return beginnings_; }
  std::size_t size() const { return size_; }
  const Key* keys() const { return row_keys_.data(); }
  const float* values() const { return row_values_.data(); }
  // Where in the batch each entry is; kNowhere: in no place.
  const std::uint32_t* sources() const { return sources_.data(); }

  // Of each entry the mean square of its column, less its mean; 0 of what is in none.
  const float* variances() const { return variances_.data(); }
  // How many deviations of a column from its mean a value of it can be away from it: of t values, sqrt(t).
  float farthest() const;
  // 0 for what is no column.
  double mean(Key key) const;
  // Calls visit(key, mean) for every column, in the order in which they were met.
  template <class Visit>
  void for_each(Visit visit) const {
    if (!centred()) return;
    for (const Column& column : columns_)
      if (!column.gone) visit(column.key, column.mean);
  }
  std::size_t bytes() const { return columns_.size() * kColumn; }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  static constexpr std::size_t kColumn = 104;  // bytes, with what finds it

  struct Column {
    Key key;
    double mean;
    double variance;
    std::uint64_t missing;  // rows without it
    bool met;               // in the row at hand
    bool gone;
  };

  bool centred() const { return on_ && rows_ > 1; }
  double allowed() const { return 2.0 + 0.75 * static_cast<double>(rows_); }
  void find_places(const Batch& batch, std::size_t row);
  bool is_table();
  void add_columns(const Batch& batch, std::size_t row);
  void make_row(const Batch& batch, std::size_t row, double share);
  void make_entries(const Batch& batch, std::size_t row, double share);
  void make_gaps(double share);
  void put(const Column& column, float x, std::uint32_t source);
  void meet(Column& column, double x, double share);
  void let_go(Column& column);
  void stop();
  void number_again();

  bool on_;
  std::size_t room_;
  std::uint64_t rows_ = 0;  // that were learned
  double weight_ = 0.0;     // V
  std::uint64_t entries_ = 0;
  std::uint64_t known_ = 0;  // of them those in columns
  std::vector<Column> columns_;
  std::size_t gone_ = 0;
  FeatureIndex index_;  // places of columns
  // Of the row at hand; places of entries among the columns.
  std::size_t present_ = 0;  // entries that are not 0
  std::size_t found_ = 0;    // of them those in columns
  std::vector<std::uint32_t> places_;
  std::vector<Change> changes_;
  std::vector<Beginning> beginnings_;
  std::size_t size_ = 0;  // entries of what is learned of it
  Buffer<Key> row_keys_;
  Buffer<float> row_values_;
  Buffer<std::uint32_t> sources_;
  Buffer<float> variances_;
};

}  // namespace fsstream

// ColumnCache: the columns of the features that were chosen so far, the cache of section 5.5.
//
// A column is collected row after row, then sealed: dense (one float a row) or sparse
// (row and value of each entry), whichever takes fewer bytes. Sums run in a fixed order
// over a fixed number of lanes, so they have the same bits on every machine; threads take columns, or
// ranges of rows, and change no sum.
//
// What an additive kernel makes of a feature (core/additive_map.hpp) is a run of columns that is
// never written out: one column of places t, and sums over all of the run in one walk along it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/additive_map.hpp"
#include "core/buffer.hpp"
#include "core/thread_team.hpp"

namespace fsstream {

class ColumnCache {
 public:
  // Throws LimitExceeded when its columns would take more bytes than `limit`.
  ColumnCache(std::size_t rows, std::size_t limit) : rows_(rows), limit_(limit) {}
  ColumnCache(const ColumnCache&) = delete;
  ColumnCache& operator=(const ColumnCache&) = delete;

  // Long sums are shared among so many threads.
  void use_threads(std::size_t threads) { team_ = threads > 1 ? std::make_unique<ThreadTeam>(threads) : nullptr; }
  // visit(begin, end) over ranges of all rows; shared among threads when `work` numbers are touched in all.
  void over_rows(std::size_t work, const std::function<void(std::size_t, std::size_t)>& visit) const;

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_.size(); }
  std::size_t bytes() const { return bytes_; }
  bool dense(std::size_t column) const { return columns_[column].dense; }
  // Entries to be walked along for a sum over these columns.
  std::size_t entries(std::span<const std::uint32_t> columns) const;

  // Opens an empty column and gives its number.
  std::size_t open();
  // What open_run() expands by; once, before it.
  void expand_by(AdditiveMap map) { map_.emplace(std::move(map)); }
  const AdditiveMap& map() const { return *map_; }
  // Opens as many columns as the map has features. The first takes the entries, places t, and the
  // calls below that change a column; its number is given.
  std::size_t open_run();
  // Appends an entry; rows ascend within a column.
  void append(std::size_t column, std::uint32_t row, float value);
  // The column is complete: takes the smaller form and gives back what was over-allocated.
  void seal(std::size_t column);
  // Frees a column that will not be used again; its number stays taken.
  void drop(std::size_t column);
  // Moves a column out of another cache of as many rows; gives its number here.
  std::size_t take(ColumnCache& other, std::size_t column);

  // sum over rows of r[i] x[i], of a column and of many
  double dot(std::size_t column, std::span<const double> r) const;
  void dots(std::span<const std::uint32_t> columns, std::span<const double> r, double* sums) const;
  // u[i] += sum over columns of weight x[i]
  void add(std::span<const std::uint32_t> columns, std::span<const double> weights, std::span<double> u) const;
  // sum over rows of cost[i] x[i]^2
  void square_sums(std::span<const std::uint32_t> columns, std::span<const double> cost, double* sums) const;

 private:
  static constexpr float kAbsent = -1.0F;  // a row without a place, in a dense run

  struct Column {
    Buffer<std::uint32_t> rows;  // empty when dense
    Buffer<float> values;
    std::size_t entries = 0;
    std::size_t bytes = 0;
    std::uint32_t run = kNoRun;  // the first column of its run
    bool dense = false;
  };
  static constexpr std::uint32_t kNoRun = 0xffffffffU;
  void account(Column& column);
  double square_sum(const Column& column, std::span<const double> cost) const;
  // u[first + i] over the rows of u only.
  void add_column(const Column& column, double a, std::size_t first, std::span<double> u) const;
  void add_range(std::span<const std::uint32_t> columns, std::span<const double> weights, std::size_t first,
                 std::span<double> u) const;
  void dots_of_run(std::span<const std::uint32_t> columns, std::span<const double> r, double* sums) const;
  template <class Visit>
  void each_run(std::span<const std::uint32_t> columns, Visit visit) const;
  template <class Visit>
  static void each_place(const Column& run, std::size_t first, std::size_t end, Visit visit);

  std::size_t rows_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::vector<Column> columns_;
  std::optional<AdditiveMap> map_;
  std::unique_ptr<ThreadTeam> team_;
};

}  // namespace fsstream

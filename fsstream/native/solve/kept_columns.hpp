// KeptColumns: all rows of the stream, in memory, feature by feature.
//
// Built once from rows; then a worst case is one walk over columns, and a chosen column is
// copied instead of searched for. Columns stand in order of falling |x|_1 (by size class), so
// that the walk can stop early and still be exact: |c_j| <= max |r_i| |x_j|_1, and once that
// is below the B-th largest |c| so far, no later column can come in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "core/pages.hpp"
#include "solve/column_cache.hpp"

namespace fsstream {

class KeptColumns {
 public:
  static constexpr std::size_t kColumnsAtOnce = 16;

  struct Entry {
    std::uint32_t row;
    float value;
  };

  // Rows as row_starts / values, and where the numbers of each begin; afterwards column p is that
  // of feature number order[p]. Frees the rows as soon as they are copied.
  std::vector<std::uint32_t> build(std::size_t features, Buffer<std::uint64_t>& row_starts,
                                   Buffer<std::uint64_t>& number_starts, Buffer<std::uint32_t>& numbers,
                                   Buffer<float>& values);

  std::size_t columns() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  std::size_t bytes() const { return starts_.size() * 8 + entries_.bytes(); }
  std::span<const Entry> column(std::size_t p) const {
    return {entries_.data() + starts_[p], entries_.data() + starts_[p + 1]};
  }

  // sum of r[row] x, in row order
  double dot(std::size_t p, std::span<const double> r) const {
    double sum = 0.0;
    for (const Entry& entry : column(p)) sum += r[entry.row] * static_cast<double>(entry.value);
    return sum;
  }

  // The same of columns p .. p + count - 1, four at a time: their additions do not wait for one another.
  void dots(std::size_t p, std::size_t count, std::span<const double> r, double* sums) const;

  // visit(p) returns the smallest |c| that still matters (0 at first); every p for which
  // `largest` |x_p|_1 could reach it is visited, after prepare(begin, end) of a range with p in it:
  // kColumnsAtOnce of them or more, of about `together` entries.
  template <class Prepare, class Visit>
  void walk(double largest, std::size_t together, Prepare prepare, Visit visit) const {
    std::size_t prepared = 0;
    double needed = 0.0;
    std::size_t next = 0;
    for (std::size_t p = 0; p < columns(); ++p) {
      if (next < classes_.size() && classes_[next].first == p) {
        // The slack covers the rounding of a sum of up to 2^32 terms.
        if (largest * classes_[next].bound * (1.0 + 1e-6) < needed) return;
        ++next;
      }
      if (p == prepared) {
        const std::size_t least = std::min(columns(), p + kColumnsAtOnce);
        for (std::size_t entries = 0; prepared < least || (prepared < columns() && entries < together); ++prepared)
          entries += column(prepared).size();
        prepare(p, prepared);
      }
      needed = visit(p);
    }
  }

 private:
  struct SizeClass {
    std::size_t first;  // its first column
    double bound;       // |x|_1 of none is larger
  };

  Pages<Entry> entries_;
  std::vector<std::uint64_t> starts_;
  std::vector<SizeClass> classes_;
};

}  // namespace fsstream

// ColumnCollector: one scan that copies the columns of chosen features into the cache, and
// their names: the moment at which a feature's name starts to cost memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/feature_index.hpp"
#include "solve/column_cache.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

class ColumnCollector {
 public:
  // Opens one column for each key, in this order. With `columns` null only names are looked up.
  // Values are multiplied by `factor`.
  ColumnCollector(ColumnCache* columns, std::span<const Key> keys, double factor = 1.0);
  // Opens one run of the cache's map for each key, and columns() are their first ones; `scores` noted the ranges.
  ColumnCollector(ColumnCache& columns, std::span<const Key> keys, const FeatureScores& scores);

  void add(const Batch& batch, std::size_t first_row);
  void add_kept(const FeatureScores& rows);
  // Seals the columns.
  void finish();

  const std::vector<std::uint32_t>& columns() const { return columns_; }
  // Empty where the key did not come by in a batch.
  const std::vector<std::string>& names() const { return names_; }
  // Entries whose key was met under another name than before.
  std::size_t collisions() const { return collisions_; }

 private:
  void note_name(std::uint32_t wanted, std::string_view name);

  void append(std::uint32_t wanted, std::uint32_t row, float value);

  ColumnCache* cache_;
  double factor_ = 1.0;
  std::vector<ValueRange> ranges_;  // of runs
  FeatureIndex wanted_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::string> names_;
  std::size_t collisions_ = 0;
};

}  // namespace fsstream

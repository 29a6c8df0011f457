// Transposer: rows in, columns out. A column is one feature: its name, and the samples (rows,
// counted from 1) that have it with their values.
//
// Rows are collected until the memory is used; that is a run. Within a run columns come in the
// order of their keys, so runs merge into one stream of columns (ColumnMerger), whose order depends
// neither on the memory nor on the order of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/feature_index.hpp"

namespace fsstream {

class Transposer {
 public:
  explicit Transposer(std::size_t memory) : memory_(memory) {}

  // Takes rows of a batch from `row` on until the run is full; the row to go on with, of which a part may
  // have been taken: a row may be longer than a run.
  std::size_t add(const Batch& batch, std::size_t row);
  bool full() const { return entries() != 0 && bytes() >= memory_; }
  bool empty() const { return entries() == 0; }

  // Ends the run: from now on its columns can be had.
  void sort();
  std::size_t columns() const { return order_.size(); }
  // Appends columns from `column` on to `out`, as rows, until it has `max_entries`; the next column.
  std::size_t columns_to(std::size_t column, std::size_t max_entries, Batch& out) const;
  // Empties it for the next run; samples are counted on.
  void clear();

  bool kmers() const { return naming_ == Naming::kKmer; }
  // Entries whose name was not the one that their key has.
  std::uint64_t collisions() const { return collisions_; }

 private:
  // A sample that has the feature. One piece, so that sorting it into its column is one cache miss.
  struct Cell {
    std::uint32_t sample;
    float value;
  };
  std::size_t entries() const { return features_.size(); }
  std::size_t bytes() const;
  void add_entry(const Batch& batch, std::size_t entry);
  void note_name(std::uint32_t feature, const Batch& batch, std::size_t entry);
  std::string_view name_of(std::uint32_t feature, std::string& scratch) const;

  std::size_t memory_;
  Naming naming_ = Naming::kDecimal;
  int kmer_length_ = 0;
  std::uint64_t samples_ = 0;
  std::size_t taken_ = 0;  // entries of the row to go on with
  std::uint64_t collisions_ = 0;

  FeatureIndex index_;
  Buffer<Key> keys_;                 // of a feature
  Buffer<std::uint64_t> name_ends_;  // of a feature, in text_
  Buffer<char> text_;

  Buffer<std::uint32_t> features_;  // the entries as they came: feature, sample, value
  Buffer<std::uint32_t> samples_of_;
  Buffer<float> values_;

  std::vector<std::uint32_t> order_;   // features by key
  Buffer<std::uint64_t> column_ends_;  // of a feature, in cells_
  Buffer<Cell> cells_;
};

}  // namespace fsstream

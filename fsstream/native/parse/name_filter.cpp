#include "parse/name_filter.hpp"

#include <algorithm>

namespace fsstream {

namespace {

template <class T>
void keep_at(Buffer<T>& buffer, std::size_t from, std::size_t to) {
  if (!buffer.empty()) buffer[to] = buffer[from];
}

template <class T>
void cut(Buffer<T>& buffer, std::size_t size) {
  if (!buffer.empty()) buffer.set_size(size);
}

// Moves the entries of a row down to `entry`; returns the place behind them.
std::size_t move_entries(Batch& batch, std::size_t row, std::size_t entry) {
  for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j, ++entry) {
    batch.keys[entry] = batch.keys[j];
    batch.values[entry] = batch.values[j];
    keep_at(batch.names, j, entry);
  }
  return entry;
}

void move_row(Batch& batch, std::size_t from, std::size_t to) {
  keep_at(batch.labels, from, to);
  keep_at(batch.label_values, from, to);
  keep_at(batch.targets, from, to);
  keep_at(batch.importance, from, to);
  keep_at(batch.records, from, to);
  keep_at(batch.tags, from, to);
}

void cut_entries(Batch& batch, std::size_t entries) {
  cut(batch.keys, entries);
  cut(batch.values, entries);
  cut(batch.names, entries);
}

void cut_rows(Batch& batch, std::size_t rows) {
  batch.row_starts.set_size(rows + 1);
  cut(batch.labels, rows);
  cut(batch.label_values, rows);
  cut(batch.targets, rows);
  cut(batch.importance, rows);
  cut(batch.records, rows);
  cut(batch.tags, rows);
}

}  // namespace

NameFilter::NameFilter(const std::vector<std::string>& keep, const std::vector<std::string>& ignore)
    : keep_(keep.begin(), keep.end()), ignore_(ignore.begin(), ignore.end()) {}

bool NameFilter::wants(std::string_view name) const {
  const auto matches = [name](const Glob& glob) { return glob.matches(name); };
  const bool kept = keep_.empty() || std::any_of(keep_.begin(), keep_.end(), matches);
  return kept && std::none_of(ignore_.begin(), ignore_.end(), matches);
}

void NameFilter::drop_entries(Batch& batch) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::size_t begin = batch.row_begin(row);
    batch.row_starts[row] = kept;
    for (std::size_t j = begin; j < batch.row_end(row); ++j) {
      if (!wants(batch.name(j, scratch_))) continue;
      batch.keys[kept] = batch.keys[j];
      batch.values[kept] = batch.values[j];
      keep_at(batch.names, j, kept);
      ++kept;
    }
  }
  batch.row_starts.back() = kept;
  cut_entries(batch, kept);
}

void NameFilter::drop_rows(Batch& batch) const {
  std::size_t kept = 0;
  std::size_t entry = 0;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (!wants(batch.view(batch.labels[row]))) continue;
    entry = move_entries(batch, row, entry);
    move_row(batch, row, kept);
    batch.row_starts[++kept] = entry;
  }
  cut_entries(batch, entry);
  cut_rows(batch, kept);
}

void FilteredParser::parse(Batch& batch, bool skip_bad) {
  parser_.parse(batch, skip_bad);
  if (rows_are_features_)
    filter_.drop_rows(batch);
  else
    filter_.drop_entries(batch);
}

}  // namespace fsstream

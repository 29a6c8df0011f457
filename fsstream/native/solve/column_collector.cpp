#include "solve/column_collector.hpp"

namespace fsstream {

ColumnCollector::ColumnCollector(ColumnCache* columns, std::span<const Key> keys, double factor)
    : cache_(columns), factor_(factor), keys_(keys.begin(), keys.end()), names_(keys.size()) {
  for (const Key key : keys) {
    wanted_.insert(key);
    if (cache_ != nullptr) columns_.push_back(static_cast<std::uint32_t>(cache_->open()));
  }
}

void ColumnCollector::note_name(std::uint32_t wanted, std::string_view name) {
  std::string& known = names_[wanted];
  if (known.empty())
    known = name;
  else if (known != name)
    ++collisions_;
}

void ColumnCollector::add(const Batch& batch, std::size_t first_row) {
  std::string scratch;
  const bool text = batch.naming == Naming::kText;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const auto number = static_cast<std::uint32_t>(first_row + row);
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t wanted = wanted_.find(batch.keys[j]);
      if (wanted == FeatureIndex::kNone) continue;
      if (cache_ != nullptr) cache_->append(columns_[wanted], number, scaled(batch.values[j]));
      if (text || names_[wanted].empty()) note_name(wanted, batch.name(j, scratch));
    }
  }
}

void ColumnCollector::add_kept(const FeatureScores& rows) {
  for (std::size_t w = 0; w < keys_.size(); ++w) {
    for (const KeptColumns::Entry& entry : rows.column_of(keys_[w]))
      cache_->append(columns_[w], entry.row, scaled(entry.value));
    names_[w] = rows.derived_name(keys_[w]);
  }
}

void ColumnCollector::finish() {
  if (cache_ == nullptr) return;
  for (const std::uint32_t column : columns_) cache_->seal(column);
}

}  // namespace fsstream

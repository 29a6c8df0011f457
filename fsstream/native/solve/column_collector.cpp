#include "solve/column_collector.hpp"

namespace fsstream {

ColumnCollector::ColumnCollector(ColumnCache* columns, std::span<const Key> keys, double factor)
    : cache_(columns), factor_(factor), keys_(keys.begin(), keys.end()), names_(keys.size()) {
  for (const Key key : keys) {
    wanted_.insert(key);
    if (cache_ != nullptr) columns_.push_back(static_cast<std::uint32_t>(cache_->open()));
  }
}

ColumnCollector::ColumnCollector(ColumnCache& columns, std::span<const Key> keys, const FeatureScores& scores)
    : cache_(&columns), keys_(keys.begin(), keys.end()), names_(keys.size()) {
  for (const Key key : keys) {
    wanted_.insert(key);
    const std::uint32_t number = scores.number_of(key);
    ranges_.push_back(number == FeatureIndex::kNone ? ValueRange{0.0F, 0.0F} : scores.ranges()[number]);
    columns_.push_back(static_cast<std::uint32_t>(cache_->open_run()));
  }
}

void ColumnCollector::append(std::uint32_t wanted, std::uint32_t row, float value) {
  if (ranges_.empty())
    cache_->append(columns_[wanted], row, static_cast<float>(factor_ * static_cast<double>(value)));
  else if (value != 0.0F)
    cache_->append(columns_[wanted], row, cache_->map().place(value, ranges_[wanted]));
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
      if (cache_ != nullptr) append(wanted, number, batch.values[j]);
      if (text || names_[wanted].empty()) note_name(wanted, batch.name(j, scratch));
    }
  }
}

void ColumnCollector::add_kept(const FeatureScores& rows) {
  for (std::uint32_t w = 0; w < keys_.size(); ++w) {
    for (const KeptColumns::Entry& entry : rows.column_of(keys_[w])) append(w, entry.row, entry.value);
    names_[w] = rows.derived_name(keys_[w]);
  }
}

void ColumnCollector::finish() {
  if (cache_ == nullptr) return;
  for (const std::uint32_t column : columns_) cache_->seal(column);
}

}  // namespace fsstream

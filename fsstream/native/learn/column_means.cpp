#include "learn/column_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/evidence.hpp"
#include "learn/limits.hpp"

namespace fsstream {

void ColumnMeans::meet(const Batch& batch, std::size_t row, double forget) {
  changes_.clear();
  find_places(batch, row);
  const double importance = batch.importance[row];
  const bool counts = importance > 0.0 && (rows_ > 0 || present_ > 0);
  if (counts) {
    ++rows_;
    weight_ = forget * weight_ + importance;
    if ((columns_.size() + present_ - found_) * kColumn > room_ || !is_table()) {
      stop();
    } else {
      if (static_cast<double>(rows_ - 1) <= allowed()) add_columns(batch, row);
      take_in(batch, row, importance / weight_);
    }
  }
  make_row(batch, row);
  tidy();
}

std::uint32_t ColumnMeans::place_of(Key key, std::uint32_t guess) const {
  constexpr std::uint32_t kNear = 4;  // tables come in the same order, row by row
  for (std::uint32_t place = guess; place < columns_.size() && place < guess + kNear; ++place)
    if (columns_[place].key == key) return place;
  const auto found = index_.find(key);
  return found == index_.end() ? kNowhere : found->second;
}

void ColumnMeans::find_places(const Batch& batch, std::size_t row) {
  const std::size_t first = batch.row_begin(row);
  places_.assign(batch.row_end(row) - first, kNowhere);
  present_ = found_ = 0;
  std::uint32_t guess = 0;
  for (std::size_t j = 0; j < places_.size(); ++j) {
    if (batch.values[first + j] == 0.0F) continue;
    ++present_;
    const std::uint32_t place = place_of(batch.keys[first + j], guess);
    if (place == kNowhere) continue;
    guess = place + 1;
    if (columns_[place].gone) continue;
    columns_[place].met = true;
    places_[j] = place;
    ++found_;
  }
}

// Counts the row's entries, but those of the first row.
bool ColumnMeans::is_table() {
  if (rows_ == 1) return true;
  entries_ += present_;
  known_ += found_;
  return 6 * known_ + entries_ / (rows_ - 1) > 4 * entries_;
}

void ColumnMeans::add_columns(const Batch& batch, std::size_t row) {
  const std::size_t first = batch.row_begin(row);
  for (std::size_t j = 0; j < places_.size(); ++j) {
    if (places_[j] != kNowhere || batch.values[first + j] == 0.0F) continue;
    places_[j] = static_cast<std::uint32_t>(columns_.size());
    index_.emplace(batch.keys[first + j], places_[j]);
    columns_.push_back({batch.keys[first + j], 0.0, 0.0, rows_ - 1, true, false});
  }
}

void ColumnMeans::take_in(const Batch& batch, std::size_t row, double share) {
  const std::size_t first = batch.row_begin(row);
  for (std::size_t j = 0; j < places_.size(); ++j) {
    if (places_[j] == kNowhere) continue;
    Column& column = columns_[places_[j]];
    const bool is_new = column.missing == rows_ - 1;
    meet(column, static_cast<double>(batch.values[first + j]), share);
    if (is_new && rows_ > 2) changes_.push_back({column.key, column.mean});
  }
  for (Column& column : columns_) {
    if (!column.met && !column.gone) {
      if (static_cast<double>(++column.missing) > allowed())
        let_go(column);
      else
        meet(column, 0.0, share);
    }
    if (rows_ == 2) changes_.push_back({column.key, column.mean});
  }
}

void ColumnMeans::meet(Column& column, double x, double share) {
  const double off = x - column.mean;
  column.mean += off * share;
  column.variance += (off * (x - column.mean) - column.variance) * share;
}

void ColumnMeans::let_go(Column& column) {
  changes_.push_back({column.key, -column.mean});
  column.gone = true;
  ++gone_;
}

void ColumnMeans::stop() {
  if (rows_ > 2)
    for (Column& column : columns_)
      if (!column.gone) changes_.push_back({column.key, -column.mean});
  on_ = false;
  places_.assign(places_.size(), kNowhere);
  columns_ = {};
  index_ = {};
  gone_ = 0;
}

// Columns that went are left out once they are half of all.
void ColumnMeans::tidy() {
  for (Column& column : columns_) column.met = false;
  if (2 * gone_ <= columns_.size()) return;
  std::erase_if(columns_, [](const Column& column) { return column.gone; });
  gone_ = 0;
  find_again();
}

void ColumnMeans::find_again() {
  index_.clear();
  for (std::uint32_t i = 0; i < columns_.size(); ++i) index_.emplace(columns_[i].key, i);
}

void ColumnMeans::append(Key key, float x, double mean, double variance, std::uint32_t source) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto value = static_cast<float>(std::clamp(static_cast<double>(x) - mean, -kLargest, kLargest));
  if (value == 0.0F) return;
  row_keys_.push_back(key);
  row_values_.push_back(value);
  sources_.push_back(source);
  variances_.push_back(static_cast<float>(std::min(variance, static_cast<double>(Evidence::kLargestSquare))));
}

// Entries of 0 go: a column's are among those that it has nowhere.
void ColumnMeans::make_row(const Batch& batch, std::size_t row) {
  row_keys_.clear();
  row_values_.clear();
  sources_.clear();
  variances_.clear();
  const std::size_t first = batch.row_begin(row);
  const bool centres = centred();
  for (std::size_t j = 0; j < places_.size(); ++j) {
    const float x = batch.values[first + j];
    if (x == 0.0F) continue;
    const bool is_column = centres && places_[j] != kNowhere;
    const Column none{};
    const Column& column = is_column ? columns_[places_[j]] : none;
    append(batch.keys[first + j], x, column.mean, column.variance, static_cast<std::uint32_t>(first + j));
  }
  if (!centres) return;
  for (const Column& column : columns_)
    if (!column.met && !column.gone) append(column.key, 0.0F, column.mean, column.variance, kNowhere);
}

float ColumnMeans::farthest() const {
  return centred() ? std::sqrt(static_cast<float>(rows_)) : std::numeric_limits<float>::infinity();
}

double ColumnMeans::mean(Key key) const {
  if (!centred()) return 0.0;
  const auto found = index_.find(key);
  return found == index_.end() || columns_[found->second].gone ? 0.0 : columns_[found->second].mean;
}

void ColumnMeans::save(StateWriter& out) const {
  const std::uint64_t counts[] = {on_ ? std::uint64_t{1} : 0, rows_, entries_, known_};
  out.put("table", std::span<const std::uint64_t>(counts));
  out.put("table_weight", std::span<const double>(&weight_, 1));
  std::vector<Column> here = columns_;
  std::erase_if(here, [](const Column& column) { return column.gone; });
  put_each<std::uint64_t>(out, "table_keys", here.size(), [&](std::size_t i) { return here[i].key; });
  put_each<std::uint64_t>(out, "table_missing", here.size(), [&](std::size_t i) { return here[i].missing; });
  put_each<double>(out, "table_means", here.size(), [&](std::size_t i) { return here[i].mean; });
  put_each<double>(out, "table_variances", here.size(), [&](std::size_t i) { return here[i].variance; });
}

void ColumnMeans::load(const StateReader& in) {
  const auto counts = of_size(in.words("table"), 4, "table");
  const auto keys = in.words("table_keys");
  const auto missing = of_size(in.words("table_missing"), keys.size(), "table_missing");
  const auto means = of_size(in.doubles("table_means"), keys.size(), "table_means");
  const auto variances = of_size(in.doubles("table_variances"), keys.size(), "table_variances");
  weight_ = of_size(in.doubles("table_weight"), 1, "table_weight")[0];
  check_state(weight_ >= 0.0);
  on_ = counts[0] != 0;
  rows_ = counts[1];
  entries_ = counts[2];
  known_ = counts[3];
  columns_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    check_state(std::isfinite(means[i]) && variances[i] >= 0.0);
    columns_.push_back({keys[i], means[i], variances[i], missing[i], false, false});
  }
  gone_ = 0;
  find_again();
  check_state(index_.size() == columns_.size());
}

}  // namespace fsstream

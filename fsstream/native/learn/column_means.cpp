#include "learn/column_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/evidence.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

float left_of(double x, double mean) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(x - mean, -kLargest, kLargest));
}

float square_of_unit(double variance) {
  return static_cast<float>(std::min(variance, static_cast<double>(Evidence::kLargestSquare)));
}

}  // namespace

void ColumnMeans::meet(const Batch& batch, std::size_t row, double forget) {
  changes_.clear();
  beginnings_.clear();
  find_places(batch, row);
  const double importance = batch.importance[row];
  double share = 0.0;
  if (importance > 0.0 && (rows_ > 1 || present_ > 0)) {
    ++rows_;
    weight_ = forget * weight_ + importance;
    const bool adds = static_cast<double>(rows_ - 1) <= allowed();  // while none can have gone
    const bool too_many = adds && (columns_.size() + present_ - found_) * kColumn > room_;
    if (too_many || !is_table()) {
      stop();
    } else {
      share = importance / weight_;
      if (adds) add_columns(batch, row);
    }
  }
  make_row(batch, row, share);
  if (2 * gone_ <= columns_.size()) return;
  std::erase_if(columns_, [](const Column& column) { return column.gone; });
  gone_ = 0;
  number_again();
}

void ColumnMeans::number_again() {
  index_ = FeatureIndex();
  for (const Column& column : columns_) index_.insert(column.key);
}

void ColumnMeans::find_places(const Batch& batch, std::size_t row) {
  const std::size_t first = batch.row_begin(row);
  const Key* keys = batch.keys.data() + first;
  const float* values = batch.values.data() + first;
  places_.assign(batch.row_end(row) - first, kNowhere);
  present_ = found_ = 0;
  std::uint32_t next = 0;  // tables come in the same order, row by row
  for (std::size_t j = 0; j < places_.size(); ++j) {
    if (values[j] == 0.0F) continue;
    ++present_;
    const bool is_next = next < columns_.size() && columns_[next].key == keys[j];
    const std::uint32_t place = is_next ? next : index_.find(keys[j]);
    if (place == kNowhere) continue;
    next = place + 1;
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
    places_[j] = index_.insert(batch.keys[first + j]);
    if (places_[j] == columns_.size()) columns_.push_back({batch.keys[first + j], 0.0, 0.0, rows_ - 1, true, false});
  }
}

void ColumnMeans::meet(Column& column, double x, double share) {
  const bool differed = square_of_unit(column.variance) > 0.0F;
  const double off = x - column.mean;
  column.mean += off * share;
  column.variance += (off * (x - column.mean) - column.variance) * share;
  if (const float square = square_of_unit(column.variance); !differed && square > 0.0F)
    beginnings_.push_back({column.key, left_of(x, column.mean), square});
}

void ColumnMeans::let_go(Column& column) {
  changes_.push_back({column.key, -column.mean, column.mean * column.mean});
  column.gone = true;
  ++gone_;
}

void ColumnMeans::stop() {
  if (rows_ > 2)
    for (Column& column : columns_)
      if (!column.gone) changes_.push_back({column.key, -column.mean, column.mean * column.mean});
  on_ = false;
  places_.assign(places_.size(), kNowhere);
  columns_ = {};
  gone_ = 0;
  number_again();
}

// What is learned of a row, which has its share in the means of columns, if any.
void ColumnMeans::make_row(const Batch& batch, std::size_t row, double share) {
  const std::size_t most = places_.size() + columns_.size();
  row_keys_.reserve(most);
  row_values_.reserve(most);
  sources_.reserve(most);
  variances_.reserve(most);
  size_ = 0;
  make_entries(batch, row, share);
  make_gaps(share);
}

void ColumnMeans::make_entries(const Batch& batch, std::size_t row, double share) {
  const std::size_t first = batch.row_begin(row);
  const bool centres = centred();
  Column none{};
  for (std::size_t j = 0; j < places_.size(); ++j) {
    const float x = batch.values[first + j];
    if (x == 0.0F) continue;
    const bool is_column = places_[j] != kNowhere;
    if (is_column && share > 0.0) {
      Column& column = columns_[places_[j]];
      const bool is_new = column.missing == rows_ - 1;
      meet(column, static_cast<double>(x), share);
      if (is_new && rows_ > 2) changes_.push_back({column.key, column.mean, 0.0});
    }
    none.key = batch.keys[first + j];
    put(is_column && centres ? columns_[places_[j]] : none, x, static_cast<std::uint32_t>(first + j));
  }
}

// Entries of 0 are among a column's gaps.
void ColumnMeans::make_gaps(double share) {
  const bool centres = centred();
  for (Column& column : columns_) {
    if (!column.met && !column.gone) {
      if (share > 0.0) {
        if (static_cast<double>(++column.missing) > allowed())
          let_go(column);
        else
          meet(column, 0.0, share);
      }
      if (centres && !column.gone) put(column, 0.0F, kNowhere);
    }
    if (rows_ == 2 && share > 0.0) changes_.push_back({column.key, column.mean, 0.0});
    column.met = false;
  }
}

void ColumnMeans::put(const Column& column, float x, std::uint32_t source) {
  row_keys_[size_] = column.key;
  row_values_[size_] = left_of(static_cast<double>(x), column.mean);
  sources_[size_] = source;
  variances_[size_] = square_of_unit(column.variance);
  size_ += row_values_[size_] != 0.0F ? 1 : 0;
}

float ColumnMeans::farthest() const {
  return centred() ? std::sqrt(static_cast<float>(rows_)) : std::numeric_limits<float>::infinity();
}

double ColumnMeans::mean(Key key) const {
  if (!centred()) return 0.0;
  const std::uint32_t place = index_.find(key);
  return place == kNowhere || columns_[place].gone ? 0.0 : columns_[place].mean;
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
  check_state(weight_ >= 0.0 && std::isfinite(weight_));
  on_ = counts[0] != 0;
  rows_ = counts[1];
  entries_ = counts[2];
  known_ = counts[3];
  check_state(known_ <= entries_ && (on_ || keys.empty()));
  columns_.clear();
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    check_state(std::abs(means[i]) <= kLargest && missing[i] < rows_);
    check_state(variances[i] >= 0.0 && variances[i] <= 2.0 * kLargest * kLargest);
    columns_.push_back({keys[i], means[i], variances[i], missing[i], false, false});
  }
  gone_ = 0;
  number_again();
  check_state(index_.size() == columns_.size());
}

}  // namespace fsstream

#include "parse/array_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "parse/label.hpp"

namespace fsstream {

namespace {

constexpr const char* kUnknown = "nan and inf are not values: leave the entry out where it is unknown";
constexpr const char* kFiniteSum = "values of one feature that add up within 32-bit floating point";

std::string shown(std::string_view name) { return "a finite 32-bit number for '" + std::string(name) + "'"; }

}  // namespace

ArrayRows::ArrayRows(const std::vector<std::string>& names)
    : named_(true), composed_(names.size()), batch_of_(names.size(), 0) {
  ends_.reserve(names.size());
  keys_.reserve(names.size());
  for (const std::string& name : names) {
    if (name.size() > kLongestName) throw BadInput("a name is longer than 64 KiB");
    names_ += name;
    ends_.push_back(names_.size());
    keys_.push_back(key_of_name(name));
  }
}

void ArrayRows::check(const Batch& batch, const RowArrays& rows, std::size_t labels) const {
  const std::size_t count = rows.labels.size();
  const std::size_t entries = rows.columns.size();
  const bool fit = rows.row_starts.size() == count + 1 && rows.values.size() == entries &&
                   rows.row_starts.front() == 0 && rows.row_starts.back() == entries && batch.text_size == count &&
                   (rows.importance.empty() || rows.importance.size() == count);
  if (!fit) throw BadInput("the arrays of the rows do not fit together");
  if (!std::is_sorted(rows.row_starts.begin(), rows.row_starts.end())) throw BadInput("row starts must not fall");
  for (const std::uint32_t label : rows.labels)
    if (label >= labels) throw BadInput("a row has a label beyond the table of labels");
  for (const float weight : rows.importance)
    if (!(weight >= 0) || std::isinf(weight)) throw BadInput("the weight of a row is a finite number from 0 on");
  if (named_ && std::any_of(rows.columns.begin(), rows.columns.end(), [&](auto c) { return c >= keys_.size(); }))
    throw BadInput("a row has a column beyond the table of names");
}

TextRef ArrayRows::name_of(Batch& batch, std::uint64_t column) {
  if (batch_of_[column] != batches_) {
    const std::size_t begin = column == 0 ? 0 : ends_[column - 1];
    composed_[column] = batch.compose(std::string_view(names_).substr(begin, ends_[column] - begin));
    batch_of_[column] = batches_;
  }
  return composed_[column];
}

void ArrayRows::add(Batch& batch, std::uint64_t column, float value) {
  batch.values.push_back(value);
  if (!named_) {
    batch.keys.push_back(column);
    return;
  }
  batch.keys.push_back(keys_[column]);
  batch.names.push_back(name_of(batch, column));
}

// Whether the row is good; a bad one is noted, and its entries are gone.
bool ArrayRows::finish(Batch& batch, std::size_t row) {
  const char* expected = nullptr;
  const char* hint = kUnknown;
  for (std::size_t j = batch.row_starts.back(); j < batch.entries() && expected == nullptr; ++j) {
    if (std::isfinite(batch.values[j])) continue;
    std::string scratch;
    expected = batch.remark(shown(batch.name(j, scratch)));
  }
  if (expected == nullptr && !merge_.merge(batch)) {
    expected = kFiniteSum;
    hint = kSum.hint;
  }
  if (expected == nullptr) return true;
  batch.drop_row();
  batch.bad.push_back({row, 0, row, expected, hint});
  return false;
}

void ArrayRows::fill(Batch& batch, const RowArrays& rows, const std::vector<std::string>& labels) {
  check(batch, rows, labels.size());
  ++batches_;
  batch.naming = named_ ? Naming::kText : Naming::kDecimal;
  batch.reserve(rows.labels.size(), rows.columns.size());
  std::vector<TextRef> label_texts;
  std::vector<double> label_values;
  for (const std::string& label : labels) {
    label_texts.push_back(label.empty() ? TextRef{} : batch.compose(label));
    label_values.push_back(label_number(label));
  }
  for (std::size_t row = 0; row < rows.labels.size(); ++row) {
    for (std::size_t j = rows.row_starts[row]; j < rows.row_starts[row + 1]; ++j)
      add(batch, rows.columns[j], rows.values[j]);
    if (!finish(batch, row)) continue;
    const std::uint32_t label = rows.labels[row];
    batch.end_row(label_texts[label], label_values[label], rows.importance.empty() ? 1.0F : rows.importance[row],
                  static_cast<std::uint32_t>(row));
  }
}

}  // namespace fsstream

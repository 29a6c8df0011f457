#include "solve/transposer.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include "core/ask.hpp"
#include "core/errors.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kEntryBytes = 2 * (sizeof(std::uint32_t) + sizeof(float)) + sizeof(std::uint32_t);
constexpr std::size_t kFeatureBytes = sizeof(Key) + 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
constexpr std::size_t kPrefetch = 8;          // entries ahead
constexpr std::size_t kBetweenChecks = 4096;  // entries of one row

}  // namespace

std::size_t Transposer::bytes() const {
  return entries() * kEntryBytes + keys_.size() * kFeatureBytes + text_.size() +
         2 * FeatureIndex::bytes_of(index_.slots());
}

std::size_t Transposer::add(const Batch& batch, std::size_t row) {
  if (empty()) {
    naming_ = batch.naming;
    kmer_length_ = batch.kmer_length;
  } else if (naming_ != batch.naming || kmer_length_ != batch.kmer_length) {
    throw std::invalid_argument("one stream names its features in one way");
  }
  for (; row < batch.rows() && (taken_ != 0 || !full()); ++row, taken_ = 0) {
    if (taken_ == 0 && ++samples_ > std::numeric_limits<std::uint32_t>::max())
      throw LimitExceeded("more than 4294967295 rows cannot be transposed\ntake a sample of the rows");
    for (std::size_t j = batch.row_begin(row) + taken_; j < batch.row_end(row); ++j, ++taken_) {
      if (taken_ != 0 && taken_ % kBetweenChecks == 0 && full()) return row;
      if (j + kPrefetch < batch.entries()) index_.prefetch(batch.keys[j + kPrefetch]);
      add_entry(batch, j);
    }
  }
  return row;
}

void Transposer::add_entry(const Batch& batch, std::size_t entry) {
  const std::uint32_t feature = index_.insert(batch.keys[entry]);
  if (feature == keys_.size()) keys_.push_back(batch.keys[entry]);
  if (naming_ == Naming::kText) note_name(feature, batch, entry);
  features_.push_back(feature);
  samples_of_.push_back(static_cast<std::uint32_t>(samples_));
  values_.push_back(batch.values[entry]);
}

void Transposer::note_name(std::uint32_t feature, const Batch& batch, std::size_t entry) {
  const std::string_view name = batch.view(batch.names[entry]);
  if (feature == name_ends_.size()) {
    text_.append(name.data(), name.size());
    name_ends_.push_back(text_.size());
  } else {
    std::string unused;
    collisions_ += name != name_of(feature, unused);
  }
}

std::string_view Transposer::name_of(std::uint32_t feature, std::string& scratch) const {
  if (naming_ == Naming::kText) {
    const std::uint64_t begin = feature == 0 ? 0 : name_ends_[feature - 1];
    return {text_.data() + begin, name_ends_[feature] - begin};
  }
  scratch.clear();
  if (naming_ == Naming::kKmer) {
    append_kmer(keys_[feature], kmer_length_, scratch);
  } else {
    char digits[20];
    scratch.assign(digits, std::to_chars(digits, digits + sizeof digits, keys_[feature]).ptr);
  }
  return scratch;
}

void Transposer::sort() {
  const std::size_t columns = keys_.size();
  order_.resize(columns);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) { return keys_[a] < keys_[b]; });

  // A counting sort: each column's place, then each entry into its column. Samples stay in order.
  column_ends_.reserve(columns);
  column_ends_.set_size(columns);
  std::fill(column_ends_.begin(), column_ends_.end(), std::uint64_t{0});
  for (const std::uint32_t feature : features_) ++column_ends_[feature];
  std::uint64_t begin = 0;
  for (const std::uint32_t feature : order_) begin += std::exchange(column_ends_[feature], begin);
  cells_.reserve(entries());
  for (std::size_t j = 0; j < entries(); ++j) {
    if (j + kPrefetch < entries()) ask_to_read(cells_.data() + column_ends_[features_[j + kPrefetch]]);
    cells_[column_ends_[features_[j]]++] = {samples_of_[j], values_[j]};
  }
}

std::size_t Transposer::columns_to(std::size_t column, std::size_t max_entries, Batch& out) const {
  std::string scratch;
  for (; column < columns() && out.entries() < max_entries && out.rows() < max_entries; ++column) {
    const std::uint32_t feature = order_[column];
    const std::size_t begin = column == 0 ? 0 : column_ends_[order_[column - 1]];
    const std::size_t count = column_ends_[feature] - begin;
    out.reserve(1, count);
    for (std::size_t j = begin; j < begin + count; ++j) {
      out.keys.push_back(cells_[j].sample);
      out.values.push_back(cells_[j].value);
    }
    out.end_row(out.compose(name_of(feature, scratch)), std::numeric_limits<double>::quiet_NaN(), 1.0F, 0);
  }
  return column;
}

void Transposer::clear() {
  index_ = FeatureIndex();
  keys_.clear();
  name_ends_.clear();
  text_.clear();
  features_.clear();
  samples_of_.clear();
  values_.clear();
  order_.clear();
}

}  // namespace fsstream

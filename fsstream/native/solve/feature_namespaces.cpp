// The part of FeatureScores that knows namespaces: which features are in one, and which give way when
// the table of features is full.
#include <algorithm>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLargeNamespaces = 8;  // sketches that take a quarter of the table's bytes together

}  // namespace

std::uint32_t FeatureScores::namespace_of(const Batch& batch, std::size_t entry) {
  const std::string_view name = batch.name(entry, scratch_);
  const std::size_t mark = name.find('^');
  const std::string_view before = mark == std::string_view::npos ? std::string_view() : name.substr(0, mark);
  const std::uint32_t number = namespace_index_.insert(key_of_name(before));
  if (number == namespace_names_.size()) namespace_names_.emplace_back(before);
  return number;
}

// The largest namespaces give way until half of the features are left; the others stay exact.
void FeatureScores::shed_namespaces() {
  if (rows_kept_) forget_rows();
  sums_.resize(keys_.size());
  plain_.resize(shift_ ? keys_.size() : 0);
  std::vector<std::size_t> sizes(namespace_names_.size());
  for (const std::uint32_t number : namespaces_) ++sizes[number];
  for (std::size_t left = keys_.size(); left > keys_.size() / 2;) {
    const auto largest = std::max_element(sizes.begin(), sizes.end());
    if (large_.numbers().size() == kLargeNamespaces)
      throw LimitExceeded(
          "the features of this stream do not fit the memory fgm may use to group them by namespace, and more than "
          "eight namespaces have many\nraise --memory, or list the features of the groups that matter with --groups: "
          "all others are then sketched");
    large_.take(static_cast<std::uint32_t>(largest - sizes.begin()), table_bytes_ / (4 * kLargeNamespaces));
    left -= *largest;
    *largest = 0;
  }
  FeatureIndex index;
  std::size_t kept = 0;
  for (std::size_t number = 0; number < keys_.size(); ++number) {
    if (large_.holds(namespaces_[number])) {
      large_.add(namespaces_[number], keys_[number], sums_[number], shift_ ? plain_[number] : 0.0);
      continue;
    }
    index.insert(keys_[number]);
    keys_[kept] = keys_[number];
    namespaces_[kept] = namespaces_[number];
    sums_[kept] = sums_[number];
    if (shift_) plain_[kept] = plain_[number];
    ++kept;
  }
  keys_.resize(kept);
  namespaces_.resize(kept);
  sums_.resize(kept);
  plain_.resize(shift_ ? kept : 0);
  index_ = std::move(index);
}

// What sum_row passes over.
void FeatureScores::sketch_large(const Batch& batch, std::size_t batch_row, std::size_t row) {
  const double weight = static_cast<double>(importance_[row]);
  const double signed_weight = weight * static_cast<double>(targets_[row]);
  for (std::size_t j = batch.row_begin(batch_row); j < batch.row_end(batch_row); ++j) {
    if (numbers_[j - batch.row_begin(batch_row)] != FeatureIndex::kNone) continue;
    const double value = static_cast<double>(batch.values[j]);
    large_.add(namespace_of(batch, j), batch.keys[j], signed_weight * value, weight * value);
  }
}

}  // namespace fsstream

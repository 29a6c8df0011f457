// The part of FeatureScores that takes over when the table of features does not fit.
#include <algorithm>

#include "core/errors.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

// The sums so far go into sketches that take the place of the table, but for those that stay exact.
void FeatureScores::turn_to_sketch() {
  if (ranges_noted_)
    throw LimitExceeded(
        "the features of this stream do not fit the memory fgm may use to expand them\nraise --memory, or select some "
        "thousand features first and expand what `fsstream transform` leaves");
  FeatureIndex index;
  std::vector<Key> keys;
  for (const Key key : exact_keys_)
    if (index.insert(key) == keys.size()) keys.push_back(key);
  const std::size_t table = table_size(index.slots());
  if (!keys.empty() && table > table_bytes_ / 2)
    throw LimitExceeded(
        "the features listed by --groups do not fit the memory fgm may use for their scores\nraise --memory");
  if (rows_kept_) forget_rows();
  const std::size_t left = table_bytes_ - (keys.empty() ? 0 : table);
  constexpr int kDepth = 3;
  std::size_t width = 2;
  while (2 * width * kDepth * sizeof(float) * (shift_ ? 2 : 1) <= left && width < (std::size_t{1} << 30)) width *= 2;
  sketch_.emplace(kDepth, width, seed_);
  if (shift_) plain_sketch_.emplace(kDepth, width, seed_);
  std::vector<double> sums(keys.size()), plain(shift_ ? keys.size() : 0);
  exact_met_.assign(keys.size(), false);
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    const std::uint32_t kept = index.find(keys_[number]);
    if (kept != FeatureIndex::kNone) {
      exact_met_[kept] = true;
      sums[kept] = sums_[number];
      if (shift_) plain[kept] = plain_[number];
      continue;
    }
    sketch_->add(keys_[number], static_cast<float>(sums_[number]));
    if (shift_) plain_sketch_->add(keys_[number], static_cast<float>(plain_[number]));
  }
  index_ = std::move(index);
  keys_ = std::move(keys);
  sums_ = std::move(sums);
  plain_ = std::move(plain);
}

std::size_t FeatureScores::exact_met() const {
  if (sketched()) return static_cast<std::size_t>(std::count(exact_met_.begin(), exact_met_.end(), true));
  return static_cast<std::size_t>(std::count_if(exact_keys_.begin(), exact_keys_.end(),
                                                [&](Key key) { return index_.find(key) != FeatureIndex::kNone; }));
}

void FeatureScores::sketch_row(std::size_t row, std::span<const Key> keys, const float* values) {
  const double weight = static_cast<double>(importance_[row]);
  const double signed_weight = weight * static_cast<double>(targets_[row]);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double value = static_cast<double>(values[j]);
    const std::uint32_t number = index_.find(keys[j]);
    if (number == FeatureIndex::kNone) {
      sketch_->add(keys[j], static_cast<float>(signed_weight * value));
      if (shift_) plain_sketch_->add(keys[j], static_cast<float>(weight * value));
    } else {
      exact_met_[number] = true;
      sums_[number] += signed_weight * value;
      if (shift_) plain_[number] += weight * value;
    }
  }
}

void FeatureScores::finish_sketch(double slope, double offset) {
  const std::span<float> cells = sketch_->cells();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double cell = slope * static_cast<double>(cells[i]);
    if (shift_) cell += offset * static_cast<double>(plain_sketch_->cells()[i]);
    cells[i] = static_cast<float>(cell);
  }
  plain_sketch_.reset();
  r_.resize(rows());
  for (std::size_t i = 0; i < rows(); ++i)
    r_[i] = static_cast<double>(importance_[i]) * (slope * static_cast<double>(targets_[i]) + offset);
}

}  // namespace fsstream

#include "solve/feature_scores.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"

namespace fsstream {

namespace {

// Index, key, c, and with a shift the second sum, when the table has this many slots.
std::size_t table_size(std::size_t slots, bool shift) {
  const std::size_t features = slots / 10 * 7 + 7;
  return FeatureIndex::bytes_of(slots) + features * (shift ? 24 : 16);
}

bool better(const FeatureScores::Scored& a, const FeatureScores::Scored& b) {
  const double x = std::abs(a.score);
  const double y = std::abs(b.score);
  return x != y ? x > y : a.key < b.key;
}

}  // namespace

FeatureScores::FeatureScores(std::size_t table_bytes, std::size_t row_bytes, bool shift)
    : table_bytes_(table_bytes), row_bytes_(row_bytes), shift_(shift), index_(1024) {
  row_starts_.push_back(0);
}

std::uint32_t FeatureScores::number_for(Key key) {
  if (index_.full() && index_.find(key) == FeatureIndex::kNone) {
    const std::size_t grown = 2 * index_.slots();
    if (table_size(grown, shift_) + FeatureIndex::bytes_of(index_.slots()) > table_bytes_)
      throw LimitExceeded(
          "the features of this stream do not fit the memory fgm may use for its table\nraise --memory");
    const std::size_t features = grown / 10 * 7 + 7;
    keys_.reserve(features);
    sums_.reserve(features);
    if (shift_) plain_.reserve(features);
  }
  const std::uint32_t number = index_.insert(key);
  if (number == keys_.size()) {
    keys_.push_back(key);
    sums_.push_back(0.0);
    if (shift_) plain_.push_back(0.0);
  }
  return number;
}

void FeatureScores::load(const Batch& batch) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::size_t begin = batch.row_begin(row);
    const std::size_t end = batch.row_end(row);
    const double weight = static_cast<double>(batch.importance[row]);
    const double signed_weight = weight * static_cast<double>(batch.targets[row]);
    targets_.push_back(batch.targets[row]);
    importance_.push_back(batch.importance[row]);
    entries_ += end - begin;
    if (rows_kept_ && entries_ * 8 + rows() * 8 > row_bytes_) forget_rows();
    for (std::size_t j = begin; j < end; ++j) index_.prefetch(batch.keys[j]);
    double square = 0.0;
    for (std::size_t j = begin; j < end; ++j) {
      const std::uint32_t number = number_for(batch.keys[j]);
      const double value = static_cast<double>(batch.values[j]);
      sums_[number] += signed_weight * value;
      if (shift_) plain_[number] += weight * value;
      if (rows_kept_) numbers_.push_back(number);
      square += value * value;
      negative_values_ |= value < 0.0;
    }
    square_sum_ += square;
    if (rows_kept_) keep_row(batch, row);
  }
}

void FeatureScores::keep_row(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  values_.append(batch.values.data() + begin, batch.row_end(row) - begin);
  row_starts_.push_back(values_.size());
}

void FeatureScores::forget_rows() {
  rows_kept_ = false;
  row_starts_ = Buffer<std::uint64_t>();
  numbers_ = Buffer<std::uint32_t>();
  values_ = Buffer<float>();
}

void FeatureScores::finish_load(double slope, double offset) {
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    sums_[number] *= slope;
    if (shift_) sums_[number] += offset * plain_[number];
  }
  plain_ = {};
}

void FeatureScores::start() { std::fill(sums_.begin(), sums_.end(), 0.0); }

void FeatureScores::add(const Batch& batch, std::span<const double> r, std::size_t first_row) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const double weight = r[first_row + row];
    if (weight == 0.0) continue;
    const std::size_t end = batch.row_end(row);
    for (std::size_t j = batch.row_begin(row); j < end; ++j) index_.prefetch(batch.keys[j]);
    for (std::size_t j = batch.row_begin(row); j < end; ++j)
      sums_[index_.find(batch.keys[j])] += weight * static_cast<double>(batch.values[j]);
  }
}

void FeatureScores::add_kept(std::span<const double> r) {
  for (std::size_t i = 0; i < rows(); ++i) {
    if (r[i] == 0.0) continue;
    for (std::uint64_t j = row_starts_[i]; j < row_starts_[i + 1]; ++j)
      sums_[numbers_[j]] += r[i] * static_cast<double>(values_[j]);
  }
}

std::vector<FeatureScores::Scored> FeatureScores::best(std::size_t count, std::span<const Key> without) const {
  FeatureIndex excluded;
  for (const Key key : without) excluded.insert(key);
  std::vector<Scored> heap;  // the worst of the best on top
  for (std::size_t number = 0; number < sums_.size() && count != 0; ++number) {
    const Scored found{keys_[number], sums_[number]};
    if (found.score == 0.0) continue;
    if (heap.size() == count && !better(found, heap.front())) continue;
    if (excluded.find(found.key) != FeatureIndex::kNone) continue;
    if (heap.size() == count) {
      std::pop_heap(heap.begin(), heap.end(), better);
      heap.pop_back();
    }
    heap.push_back(found);
    std::push_heap(heap.begin(), heap.end(), better);
  }
  std::sort(heap.begin(), heap.end(), better);
  return heap;
}

std::size_t FeatureScores::bytes() const {
  return FeatureIndex::bytes_of(index_.slots()) + keys_.capacity() * 8 + (sums_.capacity() + plain_.capacity()) * 8 +
         targets_.capacity() * 8 + row_starts_.capacity() * 8 + numbers_.capacity() * 4 + values_.capacity() * 4;
}

}  // namespace fsstream

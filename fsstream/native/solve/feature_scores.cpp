#include "solve/feature_scores.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

// Rows and columns exist side by side while the one is turned into the other.
constexpr std::size_t kEntryBytes = 2 * sizeof(KeptColumns::Entry);

std::size_t features_of(std::size_t slots) { return slots / 10 * 7 + 7; }

// Index, and what is known of each feature, when the table has this many slots.
std::size_t table_size(std::size_t slots, std::size_t feature_bytes) {
  return FeatureIndex::bytes_of(slots) + features_of(slots) * feature_bytes;
}

bool better(const FeatureScores::Scored& a, const FeatureScores::Scored& b) {
  const double x = std::abs(a.score);
  const double y = std::abs(b.score);
  return x != y ? x > y : a.key < b.key;
}

double largest(std::span<const double> values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// The best so far; the worst of them on top of a heap.
class Best {
 public:
  Best(std::size_t count, std::span<const Key> without) : count_(count) {
    for (const Key key : without) excluded_.insert(key);
  }

  // The smallest |c| that still gets in.
  double needed() const { return heap_.size() == count_ ? std::abs(heap_.front().score) : 0.0; }

  void offer(Key key, double score) {
    const FeatureScores::Scored found{key, score};
    if (score == 0.0 || (heap_.size() == count_ && !better(found, heap_.front()))) return;
    if (excluded_.find(key) != FeatureIndex::kNone) return;
    if (heap_.size() == count_) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }

  std::vector<FeatureScores::Scored> sorted() {
    std::sort(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  std::size_t count_;
  FeatureIndex excluded_;
  std::vector<FeatureScores::Scored> heap_;
};

}  // namespace

FeatureScores::FeatureScores(std::size_t table_bytes, std::size_t row_bytes, bool shift, std::uint64_t seed)
    : table_bytes_(table_bytes), row_bytes_(row_bytes), shift_(shift), index_(1024), seed_(seed) {
  row_starts_.push_back(0);
}

std::size_t FeatureScores::feature_bytes() const {
  return sizeof(Key) + (shift_ ? 2 : 1) * sizeof(double) + (ranges_noted_ ? sizeof(ValueRange) : 0);
}

bool FeatureScores::table_full(Key key) const {
  if (!index_.full() || index_.find(key) != FeatureIndex::kNone) return false;
  return table_size(2 * index_.slots(), feature_bytes()) + FeatureIndex::bytes_of(index_.slots()) > table_bytes_;
}

std::uint32_t FeatureScores::number_for(Key key) {
  if (index_.full()) keys_.reserve(features_of(2 * index_.slots()));
  const std::uint32_t number = index_.insert(key);
  if (number == keys_.size()) keys_.push_back(key);
  return number;
}

void FeatureScores::note_namespace(std::string_view name) {
  const std::size_t mark = name.find('^');
  const std::string_view before = mark == std::string_view::npos ? std::string_view() : name.substr(0, mark);
  const std::uint32_t number = namespace_index_.insert(key_of_name(before));
  if (number == namespace_names_.size()) namespace_names_.emplace_back(before);
  namespaces_.push_back(number);
}

void FeatureScores::note_range(std::uint32_t number, float value) {
  if (number == ranges_.size()) ranges_.push_back({0.0F, 0.0F});
  ValueRange& range = ranges_[number];
  if (value == 0.0F) return;
  const bool first = range.low == 0.0F && range.high == 0.0F;
  range = first ? ValueRange{value, value} : ValueRange{std::min(range.low, value), std::max(range.high, value)};
}

void FeatureScores::load(const Batch& batch) {
  naming_ = batch.naming;
  kmer_length_ = batch.kmer_length;
  // The table is probed a row ahead of its use.
  const auto prefetch = [&](std::size_t row) {
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) index_.prefetch(batch.keys[j]);
  };
  if (batch.rows() != 0) prefetch(0);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (row + 1 < batch.rows()) prefetch(row + 1);
    load_row(batch, row);
  }
}

void FeatureScores::load_row(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t size = batch.row_end(row) - begin;
  const float* values = batch.values.data() + begin;
  targets_.push_back(batch.targets[row]);
  importance_.push_back(batch.importance[row]);
  entries_ += size;
  if (rows_kept_ && entries_ * kEntryBytes + rows() * 8 > row_bytes_) forget_rows();
  if (!rows_kept_) numbers_.clear();
  for (std::size_t j = 0; j < size && !sketched(); ++j)
    if (table_full(batch.keys[begin + j]))
      turn_to_sketch();
    else {
      numbers_.push_back(number_for(batch.keys[begin + j]));
      if (namespaces_noted_ && namespaces_.size() < keys_.size()) note_namespace(batch.name(begin + j, scratch_));
      if (ranges_noted_) note_range(numbers_.back(), values[j]);
    }
  double square = 0.0;
  float most = 0.0F;
  for (std::size_t j = 0; j < size; ++j) {
    const double value = static_cast<double>(values[j]);
    square += value * value;
    most = std::max(most, std::abs(values[j]));
    negative_values_ |= value < 0.0;
  }
  square_sum_ += square;
  row_largest_.push_back(most);
  if (sketched()) {
    sketch_row(rows() - 1, {batch.keys.data() + begin, size}, values);
  } else if (rows_kept_) {
    values_.append(values, size);
    row_starts_.push_back(values_.size());
  } else {
    sum_row(rows() - 1, numbers_.span(), values);
  }
}

void FeatureScores::sum_row(std::size_t row, std::span<const std::uint32_t> numbers, const float* values) {
  const double weight = static_cast<double>(importance_[row]);
  const double signed_weight = weight * static_cast<double>(targets_[row]);
  sums_.resize(keys_.size());
  if (shift_) plain_.resize(keys_.size());
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    sums_[numbers[j]] += signed_weight * static_cast<double>(values[j]);
    if (shift_) plain_[numbers[j]] += weight * static_cast<double>(values[j]);
  }
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
      sums_[number] += signed_weight * value;
      if (shift_) plain_[number] += weight * value;
    }
  }
}

// The sums so far go into sketches that take the place of the table, but for those that stay exact.
void FeatureScores::turn_to_sketch() {
  if (namespaces_noted_)
    throw LimitExceeded(
        "the features of this stream do not fit the memory fgm may use to group them by namespace\nraise --memory, or "
        "list the features of the groups that matter with --groups: all others are then sketched");
  if (ranges_noted_)
    throw LimitExceeded(
        "the features of this stream do not fit the memory fgm may use to expand them\nraise --memory, or select some "
        "thousand features first and expand what `fsstream transform` leaves");
  FeatureIndex index;
  std::vector<Key> keys;
  for (const Key key : exact_keys_)
    if (index.insert(key) == keys.size()) keys.push_back(key);
  const std::size_t table = table_size(index.slots(), feature_bytes());
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
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    const std::uint32_t kept = index.find(keys_[number]);
    if (kept != FeatureIndex::kNone) {
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

// The rows read so far go into the sums, as if they had never been kept.
void FeatureScores::forget_rows() {
  rows_kept_ = false;
  for (std::size_t row = 0; row + 1 < row_starts_.size(); ++row) {
    const std::size_t begin = row_starts_[row];
    sum_row(row, numbers_.span().subspan(begin, row_starts_[row + 1] - begin), values_.data() + begin);
  }
  row_starts_ = Buffer<std::uint64_t>();
  numbers_ = Buffer<std::uint32_t>();
  values_ = Buffer<float>();
}

void FeatureScores::finish_load(double slope, double offset) {
  if (!rows_kept_) {
    finish_sums(slope, offset);
    if (sketched()) finish_sketch(slope, offset);
    return;
  }
  const std::vector<std::uint32_t> order = columns_.build(keys_.size(), row_starts_, numbers_, values_);
  std::vector<std::uint32_t> place(order.size());
  std::vector<Key> keys(order.size());
  for (std::uint32_t p = 0; p < order.size(); ++p) {
    place[order[p]] = p;
    keys[p] = keys_[order[p]];
  }
  if (namespaces_noted_) {
    std::vector<std::uint32_t> namespaces(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) namespaces[p] = namespaces_[order[p]];
    namespaces_ = std::move(namespaces);
  }
  if (ranges_noted_) {
    std::vector<ValueRange> ranges(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) ranges[p] = ranges_[order[p]];
    ranges_ = std::move(ranges);
  }
  keys_ = std::move(keys);
  index_.renumber(place);
  r_.resize(rows());
  plain_r_.resize(shift_ ? rows() : 0);
  for (std::size_t i = 0; i < rows(); ++i) {
    const double weight = static_cast<double>(importance_[i]);
    r_[i] = weight * static_cast<double>(targets_[i]);
    if (shift_) plain_r_[i] = weight;
  }
  scale_ = slope;
  plain_scale_ = offset;
}

void FeatureScores::finish_sums(double slope, double offset) {
  sums_.resize(keys_.size());
  if (shift_) plain_.resize(keys_.size());
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    sums_[number] *= slope;
    if (shift_) sums_[number] += offset * plain_[number];
  }
  plain_ = {};
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

void FeatureScores::start(std::span<const double> r) {
  r_.assign(r.begin(), r.end());
  plain_r_ = {};
  scale_ = 1.0;
  std::fill(sums_.begin(), sums_.end(), 0.0);
  if (sketched()) std::fill(sketch_->cells().begin(), sketch_->cells().end(), 0.0F);
}

void FeatureScores::add(const Batch& batch, std::size_t first_row) {
  const auto prefetch = [&](std::size_t row) {
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) index_.prefetch(batch.keys[j]);
  };
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (row + 1 < batch.rows()) prefetch(row + 1);
    const double weight = r_[first_row + row];
    if (weight == 0.0) continue;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const double term = weight * static_cast<double>(batch.values[j]);
      const std::uint32_t number = index_.find(batch.keys[j]);
      if (number != FeatureIndex::kNone)
        sums_[number] += term;
      else if (sketched())
        sketch_->add(batch.keys[j], static_cast<float>(term));
    }
  }
}

double FeatureScores::kept_score(std::size_t column) const {
  double score = columns_.dot(column, r_);
  if (scale_ != 1.0 || !plain_r_.empty()) score *= scale_;
  if (!plain_r_.empty()) score += plain_scale_ * columns_.dot(column, plain_r_);
  return score;
}

std::vector<FeatureScores::Scored> FeatureScores::best(std::size_t count, std::span<const Key> without) const {
  if (count == 0) return {};
  Best best(count, without);
  if (rows_kept_) {
    const double most = std::abs(scale_) * largest(r_) + std::abs(plain_scale_) * largest(plain_r_);
    columns_.walk(most, [&](std::size_t p) {
      best.offer(keys_[p], kept_score(p));
      return best.needed();
    });
  } else {
    for (std::size_t number = 0; number < sums_.size(); ++number) best.offer(keys_[number], sums_[number]);
  }
  return best.sorted();
}

std::vector<double> FeatureScores::all() const {
  if (!rows_kept_) return sums_;
  std::vector<double> scores(features());
  for (std::size_t p = 0; p < scores.size(); ++p) scores[p] = kept_score(p);
  return scores;
}

std::string FeatureScores::derived_name(Key key) const {
  std::string name;
  if (naming_ == Naming::kDecimal) name = std::to_string(key);
  if (naming_ == Naming::kKmer) append_kmer(key, kmer_length_, name);
  return name;
}

std::size_t FeatureScores::bytes() const {
  return FeatureIndex::bytes_of(index_.slots()) + keys_.capacity() * 8 + (sums_.capacity() + plain_.capacity()) * 8 +
         (sketched() ? sketch_->bytes() : 0) + targets_.capacity() * 12 + (r_.capacity() + plain_r_.capacity()) * 8 +
         ranges_.capacity() * sizeof(ValueRange) + row_starts_.capacity() * 8 + numbers_.capacity() * 4 +
         values_.capacity() * 4 + columns_.bytes();
}

}  // namespace fsstream

#include "solve/feature_scores.hpp"

#include <algorithm>
#include <cmath>

#include "solve/best_scores.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kColumnsAPart = KeptColumns::kColumnsAtOnce;  // of a walk over all columns
// Entries that a walk looks at before it asks whether the rest still matters; more when threads share them.
constexpr std::size_t kTogether = std::size_t{1} << 14;
constexpr std::size_t kTogetherWithThreads = std::size_t{1} << 20;
// Of an entry whose row is kept: rows and columns exist side by side while the one is turned into the other.
constexpr std::size_t kEntryBytes = sizeof(float) + sizeof(KeptColumns::Entry);

// Whether a row, not the first, has the keys of the one before it in its batch: rows of a table do.
bool repeats_keys(const Batch& batch, std::size_t row) {
  const std::size_t before = batch.row_begin(row - 1);
  const std::size_t begin = batch.row_begin(row);
  const std::size_t size = batch.row_end(row) - begin;
  return size == begin - before &&
         std::equal(batch.keys.data() + before, batch.keys.data() + begin, batch.keys.data() + begin);
}

double largest(std::span<const double> values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

FeatureScores::FeatureScores(std::size_t table_bytes, std::size_t row_bytes, bool shift, std::uint64_t seed)
    : table_bytes_(table_bytes), row_bytes_(row_bytes), shift_(shift), index_(1024), seed_(seed), large_(shift, seed) {
  row_starts_.push_back(0);
}

std::size_t FeatureScores::feature_bytes() const {
  return sizeof(Key) + (shift_ ? 2 : 1) * sizeof(double) + (ranges_noted_ ? sizeof(ValueRange) : 0) +
         (namespaces_noted_ ? sizeof(std::uint32_t) : 0);
}

bool FeatureScores::table_full(Key key) const {
  if (!index_.full() || index_.find(key) != FeatureIndex::kNone) return false;
  return table_size(2 * index_.slots()) + FeatureIndex::bytes_of(index_.slots()) + large_.bytes() > table_bytes_;
}

std::uint32_t FeatureScores::number_for(Key key) {
  if (index_.full()) keys_.reserve(features_of(2 * index_.slots()));
  const std::uint32_t number = index_.insert(key);
  if (number == keys_.size()) keys_.push_back(key);
  return number;
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
  bool repeats = false;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const bool next_repeats = row + 1 < batch.rows() && repeats_keys(batch, row + 1);
    if (row + 1 < batch.rows() && !next_repeats) prefetch(row + 1);
    load_row(batch, row, repeats);
    repeats = next_repeats;
  }
}

// `repeats`: the keys of the row before, whose numbers are the last ones noted.
void FeatureScores::load_row(const Batch& batch, std::size_t row, bool repeats) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t size = batch.row_end(row) - begin;
  const float* values = batch.values.data() + begin;
  targets_.push_back(batch.targets[row]);
  importance_.push_back(batch.importance[row]);
  entries_ += size;
  if (rows_kept_ && kept_rows_bytes(repeats ? 0 : size) > row_bytes_) {
    forget_rows();
    repeats = false;
  }
  if (rows_kept_)
    number_starts_.push_back(repeats ? number_starts_.back() : numbers_.size());
  else if (!repeats)
    numbers_.clear();
  if (!repeats) number_row(batch, row);
  if (ranges_noted_)
    for (std::size_t j = 0; j < size; ++j) note_range(numbers_[numbers_.size() - size + j], values[j]);
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
    if (large_.any()) sketch_large(batch, row, rows() - 1);
  }
}

// The numbers of the row's features go behind numbers_; where the table is full it gives way first.
void FeatureScores::number_row(const Batch& batch, std::size_t row) {
  for (std::size_t j = batch.row_begin(row); j < batch.row_end(row) && !sketched();) {
    const Key key = batch.keys[j];
    if (large_.any() && index_.find(key) == FeatureIndex::kNone && large_.holds(namespace_of(batch, j))) {
      numbers_.push_back(FeatureIndex::kNone);
    } else if (!table_full(key)) {
      numbers_.push_back(number_for(key));
      if (namespaces_noted_ && namespaces_.size() < keys_.size()) namespaces_.push_back(namespace_of(batch, j));
    } else if (namespaces_noted_) {
      shed_namespaces();
      numbers_.clear();
      j = batch.row_begin(row);
      continue;
    } else {
      turn_to_sketch();
    }
    ++j;
  }
}

void FeatureScores::sum_row(std::size_t row, std::span<const std::uint32_t> numbers, const float* values) {
  const double weight = static_cast<double>(importance_[row]);
  const double signed_weight = weight * static_cast<double>(targets_[row]);
  sums_.resize(keys_.size());
  if (shift_) plain_.resize(keys_.size());
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (numbers[j] == FeatureIndex::kNone) continue;  // of a large namespace
    sums_[numbers[j]] += signed_weight * static_cast<double>(values[j]);
    if (shift_) plain_[numbers[j]] += weight * static_cast<double>(values[j]);
  }
}

// The rows and their columns, once `more` numbers have come.
std::size_t FeatureScores::kept_rows_bytes(std::size_t more) const {
  return entries_ * kEntryBytes + (numbers_.size() + more) * sizeof(std::uint32_t) + rows() * 16;
}

// The rows read so far go into the sums, as if they had never been kept.
void FeatureScores::forget_rows() {
  rows_kept_ = false;
  for (std::size_t row = 0; row + 1 < row_starts_.size(); ++row) {
    const std::size_t begin = row_starts_[row];
    const std::size_t size = row_starts_[row + 1] - begin;
    sum_row(row, numbers_.span().subspan(number_starts_[row], size), values_.data() + begin);
  }
  row_starts_ = Buffer<std::uint64_t>();
  number_starts_ = Buffer<std::uint64_t>();
  numbers_ = Buffer<std::uint32_t>();
  values_ = Buffer<float>();
}

void FeatureScores::finish_load(double slope, double offset) {
  if (!rows_kept_) {
    finish_sums(slope, offset);
    if (sketched()) finish_sketch(slope, offset);
    return;
  }
  const std::vector<std::uint32_t> order = columns_.build(keys_.size(), row_starts_, number_starts_, numbers_, values_);
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
  large_.finish(slope, offset);
}

void FeatureScores::start(std::span<const double> r) {
  r_.assign(r.begin(), r.end());
  plain_r_ = {};
  scale_ = 1.0;
  std::fill(sums_.begin(), sums_.end(), 0.0);
  large_.clear();
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
      else if (const std::uint32_t large = large_.any() ? namespace_of(batch, j) : 0; large_.holds(large))
        large_.add(large, batch.keys[j], term);
    }
  }
}

void FeatureScores::score_kept(std::size_t begin, std::size_t end, double* scores) const {
  const std::size_t parts = (end - begin + kColumnsAPart - 1) / kColumnsAPart;
  const auto score = [&](std::size_t part) {
    const std::size_t first = begin + part * kColumnsAPart;
    const std::size_t count = std::min(kColumnsAPart, end - first);
    double* out = scores + (first - begin);
    columns_.dots(first, count, r_, out);
    if (scale_ != 1.0 || !plain_r_.empty())
      for (std::size_t j = 0; j < count; ++j) out[j] *= scale_;
    if (plain_r_.empty()) return;
    double plain[kColumnsAPart];
    columns_.dots(first, count, plain_r_, plain);
    for (std::size_t j = 0; j < count; ++j) out[j] += plain_scale_ * plain[j];
  };
  if (team_ != nullptr)
    team_->run(parts, score);
  else
    for (std::size_t part = 0; part < parts; ++part) score(part);
}

std::vector<FeatureScores::Scored> FeatureScores::best(std::size_t count, std::span<const Key> without) const {
  if (count == 0) return {};
  BestScores best(count, without);
  if (rows_kept_) {
    const double most = std::abs(scale_) * largest(r_) + std::abs(plain_scale_) * largest(plain_r_);
    std::vector<double> scores;
    std::size_t first = 0;
    const auto prepare = [&](std::size_t begin, std::size_t end) {
      first = begin;
      scores.resize(end - begin);
      score_kept(begin, end, scores.data());
    };
    columns_.walk(most, team_ == nullptr ? kTogether : kTogetherWithThreads, prepare, [&](std::size_t p) {
      best.offer(keys_[p], scores[p - first]);
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
  score_kept(0, scores.size(), scores.data());
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
         (sketched() ? sketch_->bytes() : 0) + large_.bytes() + targets_.capacity() * 12 +
         (r_.capacity() + plain_r_.capacity()) * 8 + ranges_.capacity() * sizeof(ValueRange) +
         (row_starts_.capacity() + number_starts_.capacity()) * 8 + numbers_.capacity() * 4 + values_.capacity() * 4 +
         columns_.bytes();
}

}  // namespace fsstream

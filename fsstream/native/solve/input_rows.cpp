#include "solve/input_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/errors.hpp"
#include "core/math.hpp"
#include "hash/mix.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kSmallestSample = 64;
constexpr std::size_t kBetweenChecks = 1024;  // new inputs

}  // namespace

std::vector<std::uint32_t> spread_rows(std::size_t rows, std::size_t count) {
  std::vector<std::uint32_t> chosen;
  SplitMix draws(rows);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * rows / count, end = (i + 1) * rows / count;
    chosen.push_back(static_cast<std::uint32_t>(begin + draws.below(end - begin)));
  }
  return chosen;
}

float damped(float value) {
  const double size = value < 0 ? -static_cast<double>(value) : static_cast<double>(value);
  return static_cast<float>(value < 0 ? -log1p(size) : log1p(size));
}

InputRows::InputRows(std::size_t limit, bool logarithms) : limit_(limit), logarithms_(logarithms) {
  starts_.push_back(0);
}

std::size_t InputRows::table_bytes() const {
  const std::size_t each = sizeof(Key) + sizeof(Sums) + sizeof(std::string);
  return keys_.size() * each + name_bytes_ + FeatureIndex::bytes_of(index_.slots());
}

std::size_t InputRows::bytes() const {
  const std::size_t rows = starts_.size() * sizeof(std::uint64_t) + values_.size() * 2 * sizeof(float);
  return table_bytes() + rows + 2 * sizeof(float) * targets_.size();
}

void InputRows::check(std::size_t bytes) const {
  if (bytes > limit_)
    throw LimitExceeded(
        "the inputs and targets of this stream do not fit the memory set aside for them\n"
        "raise --memory; or keep fewer of them: select with another backend, and transform");
}

std::uint32_t InputRows::number_for(const Batch& batch, std::size_t entry) {
  const Key key = batch.keys[entry];
  const std::uint32_t known = index_.find(key);
  if (known != FeatureIndex::kNone) return known;
  const std::string_view name = batch.name(entry, scratch_);
  names_.emplace_back(name);
  name_bytes_ += name.size();
  keys_.push_back(key);
  sums_.push_back({0, 0, 0, 0, 0, 0});
  if (keys_.size() % kBetweenChecks == 0) check(table_bytes());  // a row may bring a million of them
  return index_.insert(key);
}

void InputRows::load(const Batch& batch) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::size_t number = targets_.size();
    targets_.push_back(batch.targets[row]);
    importance_.push_back(batch.importance[row]);
    const bool keep = number % stride_ == 0;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t input = number_for(batch, j);
      const float value = logarithms_ ? damped(batch.values[j]) : batch.values[j];
      Sums& sums = sums_[input];
      if (sums.count++ == 0) sums.first = sums.smallest = sums.largest = value;
      sums.smallest = std::min(sums.smallest, value);
      sums.largest = std::max(sums.largest, value);
      const double above = static_cast<double>(value) - static_cast<double>(sums.first);
      sums.above += above;
      sums.squares += above * above;
      if (!keep) continue;
      inputs_.push_back(input);
      values_.push_back(value);
    }
    if (keep) starts_.push_back(values_.size());
    while (bytes() > limit_ && starts_.size() - 1 > kSmallestSample) thin_out();
    check(bytes());
  }
}

void InputRows::thin_out() {
  stride_ *= 2;
  const std::size_t kept = starts_.size() - 1;
  std::size_t at = 0;
  std::size_t place = 1;
  for (std::size_t row = 0; row < kept; row += 2, ++place) {
    const std::size_t begin = starts_[row];
    const std::size_t size = starts_[row + 1] - begin;
    if (size > 0) {
      std::memmove(inputs_.data() + at, inputs_.data() + begin, size * sizeof(std::uint32_t));
      std::memmove(values_.data() + at, values_.data() + begin, size * sizeof(float));
    }
    at += size;
    starts_[place] = at;
  }
  starts_.set_size(place);
  inputs_.set_size(at);
  values_.set_size(at);
}

RowsView InputRows::read(const Batch& batch) {
  read_starts_.clear();
  read_inputs_.clear();
  read_values_.clear();
  read_starts_.push_back(0);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t input = index_.find(batch.keys[j]);
      if (input == FeatureIndex::kNone) continue;
      read_inputs_.push_back(input);
      read_values_.push_back(logarithms_ ? damped(batch.values[j]) : batch.values[j]);
    }
    read_starts_.push_back(read_values_.size());
  }
  return {read_starts_.data(), read_inputs_.data(), read_values_.data(), batch.rows()};
}

InputRows::Moments InputRows::moments(std::size_t input) const {
  const Sums& sums = sums_[input];
  const auto rows = static_cast<double>(targets_.size());
  const auto zeros = rows - static_cast<double>(sums.count);  // rows that do not mention the input
  const auto first = static_cast<double>(sums.first);
  const double mean = (sums.above - zeros * first) / rows;
  const double variance = (sums.squares + zeros * first * first) / rows - mean * mean;
  const bool zero = zeros > 0;
  return {first + mean, std::max(variance, 0.0),
          static_cast<double>(zero ? std::min(sums.smallest, 0.0f) : sums.smallest),
          static_cast<double>(zero ? std::max(sums.largest, 0.0f) : sums.largest)};
}

std::size_t InputRows::sample(std::size_t count, float* out) const {
  const std::size_t kept = starts_.size() - 1;
  const std::size_t taken = std::min(count, kept);
  std::fill(out, out + taken * inputs(), 0.0f);
  for (std::size_t place = 0; place < taken; ++place) {
    const std::size_t row = place * kept / taken;
    for (std::size_t j = starts_[row]; j < starts_[row + 1]; ++j) out[place * inputs() + inputs_[j]] = values_[j];
  }
  return taken;
}

}  // namespace fsstream

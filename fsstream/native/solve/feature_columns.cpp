#include "solve/feature_columns.hpp"

#include <algorithm>
#include <cmath>

#include "core/dot.hpp"

namespace fsstream {

namespace {

// A column whose centred length is below this share of its own is rounding, not data.
constexpr double kConstant = 1e-10;
constexpr double kLargestCode = 32767;

bool complete_and_in_order(const Key* samples, std::size_t count) {
  Key differs = 0;
  for (std::size_t i = 0; i < count; ++i) differs |= samples[i] ^ static_cast<Key>(i + 1);
  return differs == 0;
}

template <class V>
double gathered(const float* values, const std::uint32_t* samples, std::size_t count, const V* vector) {
  double lanes[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t l = 0; l < 4; ++l)
      lanes[l] += static_cast<double>(values[i + l]) * static_cast<double>(vector[samples[i + l]]);
  for (; i < count; ++i) lanes[i % 4] += static_cast<double>(values[i]) * static_cast<double>(vector[samples[i]]);
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

}  // namespace

double gathered_dot(const float* values, const std::uint32_t* samples, std::size_t count, const double* vector) {
  return gathered(values, samples, count, vector);
}

double gathered_dot(const float* values, const std::uint32_t* samples, std::size_t count, const float* vector) {
  return gathered(values, samples, count, vector);
}

bool FeatureReader::read(const Batch& batch, std::size_t row, Feature& feature) {
  const std::size_t begin = batch.row_begin(row);
  const Key* samples = batch.keys.data() + begin;
  feature = {};
  feature.name = batch.view(batch.labels[row]);
  feature.values = batch.values.data() + begin;
  feature.count = batch.row_end(row) - begin;
  feature.dense = feature.count == samples_ && complete_and_in_order(samples, feature.count);
  if (feature.dense) return true;
  rows_.reserve(feature.count);
  for (std::size_t i = 0; i < feature.count; ++i) {
    if (samples[i] - 1 >= samples_) {
      bad_sample_ = samples[i];
      return false;
    }
    rows_[i] = static_cast<std::uint32_t>(samples[i] - 1);
  }
  feature.samples = rows_.data();
  return true;
}

const float* FeatureReader::scattered(const Feature& feature) {
  if (feature.dense) return feature.values;
  if (dense_.empty()) {
    dense_.reserve(samples_);
    dense_.set_size(samples_);
    std::fill(dense_.begin(), dense_.end(), 0.0F);
  }
  for (const std::uint32_t sample : touched_) dense_[sample] = 0.0F;
  touched_.assign(feature.samples, feature.samples + feature.count);
  for (std::size_t i = 0; i < feature.count; ++i) dense_[feature.samples[i]] = feature.values[i];
  return dense_.data();
}

double measure(Feature& feature, std::size_t samples, bool centred, const double* vector) {
  ColumnMoments sums{};
  if (feature.dense) {
    sums = column_moments(feature.values, vector, samples);
  } else {
    sums.with_residual = gathered_dot(feature.values, feature.samples, feature.count, vector);
    for (std::size_t i = 0; i < feature.count; ++i) {
      const double value = feature.values[i];
      sums.sum += value;
      sums.squares += value * value;
    }
  }
  const auto n = static_cast<double>(samples);
  feature.mean = centred ? sums.sum / n : 0.0;
  const double rest = sums.squares - n * feature.mean * feature.mean;
  feature.length = rest > kConstant * sums.squares ? std::sqrt(rest) : 0.0;
  return sums.with_residual;
}

FeatureColumns::FeatureColumns(std::size_t samples, std::size_t slots, bool centred, Precision precision)
    : samples_(samples), centred_(centred), precision_(precision), columns_(slots) {}

void FeatureColumns::keep(std::size_t slot, const Feature& feature, const float* dense) {
  Stored& column = columns_[slot];
  bytes_ -= bytes_of(column);
  const std::size_t sparse_cost = precision_ == Precision::kCodes ? 4 : 2;  // of an entry, in dense ones
  column.dense = feature.dense || sparse_cost * feature.count >= samples_;
  column.mean = feature.mean;
  column.length = feature.length;
  column.values.clear();
  column.samples.clear();
  column.codes.clear();
  if (column.dense) {
    keep_dense(column, dense, feature.mean);
  } else {
    column.codes = Buffer<std::int16_t>();
    column.values.append(feature.values, feature.count);
    column.samples.append(feature.samples, feature.count);
    column.rest = feature.mean;
  }
  bytes_ += bytes_of(column);
}

// The values less their mean; `rest` is the mean of what rounding left.
void FeatureColumns::keep_dense(Stored& column, const float* dense, double mean) {
  const auto n = static_cast<double>(samples_);
  double sum = 0;
  if (precision_ == Precision::kFloats) {
    column.values.reserve(samples_);
    column.values.set_size(samples_);
    for (std::size_t i = 0; i < samples_; ++i) {
      column.values[i] = static_cast<float>(static_cast<double>(dense[i]) - mean);
      sum += static_cast<double>(column.values[i]);
    }
  } else {
    column.values = Buffer<float>();
    column.samples = Buffer<std::uint32_t>();
    double largest = 0;
    for (std::size_t i = 0; i < samples_; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(dense[i]) - mean));
    column.step = largest / kLargestCode;
    column.codes.reserve(samples_);
    column.codes.set_size(samples_);
    for (std::size_t i = 0; i < samples_; ++i) {
      const double code = std::nearbyint((static_cast<double>(dense[i]) - mean) / column.step);
      column.codes[i] = static_cast<std::int16_t>(code);
      sum += code * column.step;
    }
  }
  column.rest = centred_ ? sum / n : 0.0;
}

void FeatureColumns::copy(std::size_t slot, const FeatureColumns& from, std::size_t its_slot) {
  const Stored& source = from.columns_[its_slot];
  Stored& column = columns_[slot];
  bytes_ -= bytes_of(column);
  column.values.clear();
  column.values.append(source.values.data(), source.values.size());
  column.samples.clear();
  column.samples.append(source.samples.data(), source.samples.size());
  column.codes.clear();
  column.codes.append(source.codes.data(), source.codes.size());
  column.step = source.step;
  column.dense = source.dense;
  column.mean = source.mean;
  column.length = source.length;
  column.rest = source.rest;
  bytes_ += bytes_of(column);
}

double FeatureColumns::with_feature(std::size_t slot, const Feature& feature, const float* dense) const {
  const Stored& column = columns_[slot];
  double raw = 0;
  if (!column.dense) {
    raw = gathered_dot(column.values.data(), column.samples.data(), column.values.size(), dense);
  } else if (column.codes.size() != 0) {
    raw = column.step * (feature.dense ? dot(column.codes.data(), feature.values, samples_)
                                       : gathered(feature.values, feature.samples, feature.count, column.codes.data()));
  } else if (feature.dense) {
    raw = dot(column.values.data(), feature.values, samples_);
  } else {
    raw = gathered_dot(feature.values, feature.samples, feature.count, column.values.data());
  }
  const double centred = raw - static_cast<double>(samples_) * column.rest * feature.mean;
  return centred / (column.length * feature.length);
}

double FeatureColumns::with_vector(std::size_t slot, const double* vector, double sum) const {
  const Stored& column = columns_[slot];
  double raw = 0;
  if (!column.dense) {
    raw = gathered_dot(column.values.data(), column.samples.data(), column.values.size(), vector);
  } else if (column.codes.size() != 0) {
    raw = column.step * dot(column.codes.data(), vector, samples_);
  } else {
    raw = dot(column.values.data(), vector, samples_);
  }
  return (raw - column.rest * sum) / column.length;
}

void FeatureColumns::add_to(std::size_t slot, double a, double* vector, double& offset) const {
  const Stored& column = columns_[slot];
  const double scale = a / column.length;
  if (column.codes.size() != 0) {
    add_scaled(scale * column.step, column.codes.data(), vector, samples_);
  } else if (column.dense) {
    add_scaled(scale, column.values.data(), vector, samples_);
  } else {
    for (std::size_t i = 0; i < column.values.size(); ++i)
      vector[column.samples[i]] += scale * static_cast<double>(column.values[i]);
  }
  offset += scale * column.rest;
}

bool FeatureColumns::fits(const Stored& column) const {
  if (column.codes.size() != 0)
    return column.dense && column.codes.size() == samples_ && column.values.empty() && column.samples.empty();
  if (column.values.empty()) return column.samples.empty();
  if (column.dense) return column.values.size() == samples_ && column.samples.empty();
  if (column.values.size() != column.samples.size()) return false;
  return std::all_of(column.samples.begin(), column.samples.end(), [&](std::uint32_t s) { return s < samples_; });
}

}  // namespace fsstream

// Features as columns: one that arrives, and the few a solver keeps.
//
// A column c over n samples is used as (c - mean) / length, so that a solver sees columns of
// length one and mean zero whatever their scale (mean 0 without an intercept). Dense ones are
// kept with their mean taken off, sparse ones as they came and corrected in every product. A
// column is kept sparse when that takes less room.
//
// Kept values are float32, or for Precision::kCodes whole numbers of 16 bits: multiples of the
// dense column's largest |value| / 32767. What that rounds off is at most n / 1.2e10 of the
// column's square, because no value exceeds the column's length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"

namespace fsstream {

// One batch row seen as a feature. `values[i]` belongs to sample `samples[i]` (from 0); a
// dense feature has a value for every sample, in order, and no `samples`.
struct Feature {
  Key key = 0;
  std::string_view name;
  const std::uint32_t* samples = nullptr;
  const float* values = nullptr;
  std::size_t count = 0;
  bool dense = false;
  // Filled by whoever measures the column.
  double mean = 0;
  double length = 0;  // of the centred column; 0 when it is constant
};

// Turns rows of a batch into Features over `samples` samples.
class FeatureReader {
 public:
  explicit FeatureReader(std::size_t samples) : samples_(samples) {}

  // False when the row names a sample that does not exist; see bad_sample().
  bool read(const Batch& batch, std::size_t row, Feature& feature);
  Key bad_sample() const { return bad_sample_; }

  // All n values of the feature: its own, or scattered into scratch until the next call.
  const float* scattered(const Feature& feature);

 private:
  std::size_t samples_;
  Key bad_sample_ = 0;
  Buffer<std::uint32_t> rows_;
  Buffer<float> dense_;
  std::vector<std::uint32_t> touched_;
};

// Sum of values[i] vector[samples[i]] in four lanes.
double gathered_dot(const float* values, const std::uint32_t* samples, std::size_t count, const double* vector);
double gathered_dot(const float* values, const std::uint32_t* samples, std::size_t count, const float* vector);

// Mean and centred length of an arriving column, of which one that does not vary gets length 0. Returns its product
// with a vector, as it came.
double measure(Feature& feature, std::size_t samples, bool centred, const double* vector);

enum class Precision : std::uint8_t { kFloats, kCodes };

class FeatureColumns {
 public:
  FeatureColumns(std::size_t samples, std::size_t slots, bool centred, Precision precision = Precision::kFloats);

  std::size_t samples() const { return samples_; }
  std::size_t slots() const { return columns_.size(); }
  std::size_t bytes() const { return bytes_; }
  double mean(std::size_t slot) const { return columns_[slot].mean; }
  double length(std::size_t slot) const { return columns_[slot].length; }

  // Copies a measured feature into a slot; `dense` are its scattered values.
  void keep(std::size_t slot, const Feature& feature, const float* dense);
  void exchange(std::size_t a, std::size_t b) { std::swap(columns_[a], columns_[b]); }
  void copy(std::size_t slot, const FeatureColumns& from, std::size_t its_slot);
  void grow(std::size_t slots) { columns_.resize(slots); }

  // Product of the kept column with an arriving one, both centred and of length one.
  double with_feature(std::size_t slot, const Feature& feature, const float* dense) const;
  // Product with a vector whose elements add up to `sum`.
  double with_vector(std::size_t slot, const double* vector, double sum) const;
  // vector += a column; what is to be taken from every element is added to `offset`.
  void add_to(std::size_t slot, double a, double* vector, double& offset) const;

  // Lists the members for checkpoints; false when what was read cannot be columns of these samples.
  template <class State>
  bool visit_state(State& state);

 private:
  struct Stored {
    Buffer<float> values;
    Buffer<std::uint32_t> samples;  // of a sparse column
    Buffer<std::int16_t> codes;     // of a dense column, instead of values
    bool dense = false;
    double step = 0;    // what a code of 1 stands for
    double mean = 0;    // of the feature as it came
    double length = 1;  // of the centred feature
    double rest = 0;    // mean of what is stored: about 0 when dense, `mean` when sparse
  };

  bool fits(const Stored& column) const;
  static std::size_t bytes_of(const Stored& column) {
    return sizeof(float) * column.values.capacity() + sizeof(std::uint32_t) * column.samples.capacity() +
           sizeof(std::int16_t) * column.codes.capacity();
  }
  void keep_dense(Stored& column, const float* dense, double mean);

  std::size_t samples_;
  bool centred_;
  Precision precision_;
  std::size_t bytes_ = 0;
  std::vector<Stored> columns_;
};

template <class State>
bool FeatureColumns::visit_state(State& state) {
  std::vector<double> numbers(5 * columns_.size());
  for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
    const Stored& column = columns_[slot];
    numbers[5 * slot] = column.mean;
    numbers[5 * slot + 1] = column.length;
    numbers[5 * slot + 2] = column.rest;
    numbers[5 * slot + 3] = column.dense ? 1 : 0;
    numbers[5 * slot + 4] = column.step;
  }
  state.fixed("column_numbers", numbers);
  bytes_ = 0;
  for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
    Stored& column = columns_[slot];
    column.mean = numbers[5 * slot];
    column.length = numbers[5 * slot + 1];
    column.rest = numbers[5 * slot + 2];
    column.dense = numbers[5 * slot + 3] != 0;
    column.step = numbers[5 * slot + 4];
    state.list("column_" + std::to_string(slot) + "_values", column.values);
    state.list("column_" + std::to_string(slot) + "_samples", column.samples);
    state.list("column_" + std::to_string(slot) + "_codes", column.codes);
    if (!fits(column)) return false;
    bytes_ += bytes_of(column);
  }
  return true;
}

}  // namespace fsstream

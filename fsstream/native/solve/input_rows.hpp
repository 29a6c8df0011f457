// InputRows: one scan of the stream for the backends that make their own features of it.
//
// Numbers the inputs by first appearance, takes their statistics, keeps target and importance of
// every row, and the rows themselves while they fit. When they do not fit, every second row is
// let go, as often as needed: what is kept is always every stride-th row, a fair sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "core/feature_index.hpp"
#include "core/feature_map.hpp"

namespace fsstream {

// Numbers of `count` rows, in order: one from each of as many stretches of the same length.
std::vector<std::uint32_t> spread_rows(std::size_t rows, std::size_t count);

// Values as the feature map sees them: as they are, or sign(x) log(1 + |x|).
float damped(float value);

class InputRows {
 public:
  // At most so many bytes for the rows and for the table of inputs.
  InputRows(std::size_t limit, bool logarithms);
  InputRows(const InputRows&) = delete;
  InputRows& operator=(const InputRows&) = delete;

  void load(const Batch& batch);

  // A batch of a later scan in terms of the inputs known; valid until the next call.
  RowsView read(const Batch& batch);
  RowsView kept() const { return {starts_.data(), inputs_.data(), values_.data(), starts_.size() - 1}; }

  std::size_t rows() const { return targets_.size(); }
  std::size_t inputs() const { return keys_.size(); }
  bool all_kept() const { return stride_ == 1; }
  std::size_t bytes() const;
  const Buffer<float>& targets() const { return targets_; }
  const Buffer<float>& importance() const { return importance_; }
  std::span<const Key> keys() const { return keys_; }
  const std::vector<std::string>& names() const { return names_; }

  struct Moments {
    double mean, variance, smallest, largest;
  };
  Moments moments(std::size_t input) const;
  // Up to `count` rows, evenly spaced over what is kept, dense: count x inputs. Returns how many.
  std::size_t sample(std::size_t count, float* out) const;

 private:
  struct Sums {
    float first;  // sums are of what is above it: no digits are lost to a large mean
    float smallest, largest;
    std::uint64_t count;
    double above, squares;
  };
  std::uint32_t number_for(const Batch& batch, std::size_t entry);
  void thin_out();
  std::size_t table_bytes() const;
  void check(std::size_t bytes) const;

  std::size_t limit_;
  bool logarithms_;
  FeatureIndex index_;
  std::vector<Key> keys_;
  std::vector<std::string> names_;
  std::size_t name_bytes_ = 0;
  std::vector<Sums> sums_;
  Buffer<float> targets_, importance_;
  std::size_t stride_ = 1;
  Buffer<std::uint64_t> starts_;
  Buffer<std::uint32_t> inputs_;
  Buffer<float> values_;
  Buffer<std::uint64_t> read_starts_;
  Buffer<std::uint32_t> read_inputs_;
  Buffer<float> read_values_;
  std::string scratch_;
};

}  // namespace fsstream

// FeatureMap: what a few directions make of a row.
//
//   z_f = offset_f + sum over the row's entries of value * direction[input][f]
//   wave    sqrt 2 cos(2 pi z)       step   z < 0 ? -1 : 1       plain   z
//
// Sums run in the row's order in float, feature beside feature, so every register width gives
// the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fsstream {

enum class Shape { kWave, kStep, kPlain };
Shape shape_named(std::string_view name);

// Sparse rows over numbered inputs: all of them, or those that are chosen by number.
struct RowsView {
  const std::uint64_t* starts;
  const std::uint32_t* inputs;
  const float* values;
  std::size_t rows;
  const std::uint32_t* chosen = nullptr;  // `rows` numbers, counted as the first row is `first`
  std::size_t first = 0;

  std::size_t place(std::size_t r) const { return chosen == nullptr ? r : chosen[r] - first; }
};

class FeatureMap {
 public:
  // directions: inputs x features, the features of one input side by side.
  FeatureMap(Shape shape, std::size_t inputs, std::span<const float> directions, std::span<const float> offsets);

  std::size_t inputs() const { return inputs_; }
  std::size_t features() const { return offsets_.size(); }

  // The features of one row.
  void row(const std::uint32_t* inputs, const float* values, std::size_t entries, float* out) const;
  // columns[f][first_row + r] for every row and feature.
  void fill(const RowsView& rows, std::size_t first_row, float* const* columns, std::size_t threads = 1) const;
  // How much the score sum w_f feature_f of dense rows changes when one input takes its value of the
  // row half the sample away: root mean square, by input.
  std::vector<double> effects(std::span<const float> weights, const float* rows, std::size_t count) const;

 private:
  void fill_part(const RowsView& rows, std::size_t from, std::size_t to, std::size_t first_row,
                 float* const* columns) const;

  Shape shape_;
  std::size_t inputs_;
  std::vector<float> directions_;
  std::vector<float> offsets_;
};

}  // namespace fsstream

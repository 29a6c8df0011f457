#include "core/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "core/in_parts.hpp"
#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "core/turns.hpp"

namespace fsstream {

namespace {

constexpr float kRootTwo = 1.41421356f;
constexpr std::size_t kTileRows = 64;

void add_direction(float value, const float* direction, float* z, std::size_t features) {
  for (std::size_t f = 0; f < features; ++f) z[f] += value * direction[f];
}

void make_waves(float* z, std::size_t features) {
  for (std::size_t f = 0; f < features; ++f) z[f] = kRootTwo * cosine_of_turns(z[f]);
}

void make_steps(float* z, std::size_t features) {
  for (std::size_t f = 0; f < features; ++f) z[f] = z[f] < 0.0f ? -1.0f : 1.0f;
}

void shape_row(Shape shape, float* z, std::size_t features) {
  if (shape == Shape::kWave) make_waves(z, features);
  if (shape == Shape::kStep) make_steps(z, features);
}

void transform_row(Shape shape, const float* directions, const float* offsets, std::size_t features,
                   const std::uint32_t* inputs, const float* values, std::size_t entries, float* z) {
  std::memcpy(z, offsets, features * sizeof(float));
  for (std::size_t e = 0; e < entries; ++e) add_direction(values[e], directions + inputs[e] * features, z, features);
  shape_row(shape, z, features);
}

// The score of a row whose projections are z, with one of its values changed.
double changed_score(Shape shape, const float* weights, const float* z, const float* direction, float change,
                     std::size_t features, float* scratch) {
  std::memcpy(scratch, z, features * sizeof(float));
  add_direction(change, direction, scratch, features);
  shape_row(shape, scratch, features);
  return sum_in_lanes(features,
                      [=](std::size_t f) { return static_cast<double>(weights[f]) * static_cast<double>(scratch[f]); });
}

const auto transform = Compiled<&transform_row>::best();
const auto changed = Compiled<&changed_score>::best();

}  // namespace

Shape shape_named(std::string_view name) {
  if (name == "wave") return Shape::kWave;
  if (name == "step") return Shape::kStep;
  if (name == "plain") return Shape::kPlain;
  throw std::invalid_argument("no such shape of a feature");
}

FeatureMap::FeatureMap(Shape shape, std::size_t inputs, std::span<const float> directions,
                       std::span<const float> offsets)
    : shape_(shape),
      inputs_(inputs),
      directions_(directions.begin(), directions.end()),
      offsets_(offsets.begin(), offsets.end()) {
  if (directions_.size() != inputs_ * offsets_.size()) throw std::invalid_argument("directions are inputs x features");
}

void FeatureMap::row(const std::uint32_t* inputs, const float* values, std::size_t entries, float* out) const {
  if (offsets_.empty()) return;
  transform(shape_, directions_.data(), offsets_.data(), features(), inputs, values, entries, out);
}

void FeatureMap::fill(const RowsView& rows, std::size_t first_row, float* const* columns, std::size_t threads) const {
  if (features() == 0) return;
  in_parts(threads, rows.rows, kTileRows,
           [&](std::size_t begin, std::size_t end) { fill_part(rows, begin, end, first_row, columns); });
}

void FeatureMap::fill_part(const RowsView& rows, std::size_t from, std::size_t to, std::size_t first_row,
                           float* const* columns) const {
  const std::size_t count = features();
  std::vector<float> tile(kTileRows * count);
  for (std::size_t begin = from; begin < to; begin += kTileRows) {
    const std::size_t size = std::min(kTileRows, to - begin);
    for (std::size_t r = 0; r < size; ++r) {
      const std::size_t place = rows.place(begin + r);
      const std::uint64_t at = rows.starts[place];
      row(rows.inputs + at, rows.values + at, rows.starts[place + 1] - at, &tile[r * count]);
    }
    for (std::size_t f = 0; f < count; ++f) {
      float* column = columns[f] + first_row + begin;
      for (std::size_t r = 0; r < size; ++r) column[r] = tile[r * count + f];
    }
  }
}

std::vector<double> FeatureMap::effects(std::span<const float> weights, const float* rows, std::size_t count) const {
  std::vector<double> squares(inputs_);
  if (features() == 0) return squares;
  std::vector<float> z(features()), scratch(features());
  std::vector<std::uint32_t> all(inputs_);
  std::iota(all.begin(), all.end(), 0U);
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * inputs_;
    const float* other = rows + (r + count / 2) % count * inputs_;
    transform(Shape::kPlain, directions_.data(), offsets_.data(), features(), all.data(), row, inputs_, z.data());
    const auto score = [&](std::size_t j, float change) {
      return changed(shape_, weights.data(), z.data(), &directions_[j * features()], change, features(),
                     scratch.data());
    };
    const double before = inputs_ == 0 ? 0.0 : score(0, 0.0f);
    for (std::size_t j = 0; j < inputs_; ++j) {
      if (other[j] == row[j]) continue;
      const double moved = score(j, other[j] - row[j]) - before;
      squares[j] += moved * moved;
    }
  }
  for (double& square : squares) square = std::sqrt(square / static_cast<double>(std::max<std::size_t>(count, 1)));
  return squares;
}

}  // namespace fsstream

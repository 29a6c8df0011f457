#include "core/additive_model.hpp"

#include <stdexcept>
#include <utility>

namespace fsstream {

AdditiveModel::AdditiveModel(AdditiveMap map, std::span<const Key> keys, std::vector<ValueRange> ranges,
                             std::span<const std::uint32_t> inputs, std::span<const std::uint32_t> parts,
                             std::span<const float> weights, std::span<const std::uint32_t> classes,
                             std::span<const double> intercepts)
    : map_(std::move(map)), ranges_(std::move(ranges)), intercepts_(intercepts.begin(), intercepts.end()) {
  if (ranges_.size() != keys.size()) throw std::invalid_argument("one range a key");
  if (parts.size() != inputs.size() || weights.size() != inputs.size() || classes.size() != inputs.size())
    throw std::invalid_argument("inputs, parts, weights and classes have one entry a feature");
  for (const Key key : keys) places_.try_emplace(key, places_.size());
  if (places_.size() != keys.size()) throw std::invalid_argument("an input comes once");
  std::vector<double> by_part(keys.size() * outputs() * map_.features());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] >= keys.size() || parts[i] >= map_.features() || classes[i] >= outputs())
      throw std::invalid_argument("no such input, part or class");
    by_part[(inputs[i] * outputs() + classes[i]) * map_.features() + parts[i]] += static_cast<double>(weights[i]);
  }
  tables_.resize(keys.size() * outputs() * map_.knots());
  for (std::size_t g = 0; g < keys.size() * outputs(); ++g)
    map_.at_knots(by_part.data() + g * map_.features(), tables_.data() + g * map_.knots());
}

void AdditiveModel::predict(const Batch& batch, float* scores) const {
  std::vector<double> sums;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    sums = intercepts_;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const auto found = places_.find(batch.keys[j]);
      if (found == places_.end() || batch.values[j] == 0.0F) continue;
      const float t = map_.place(batch.values[j], ranges_[found->second]);
      const double* table = tables_.data() + found->second * outputs() * map_.knots();
      for (std::size_t c = 0; c < outputs(); ++c) sums[c] += map_.read(table + c * map_.knots(), t);
    }
    for (const double sum : sums) *scores++ = static_cast<float>(sum);
  }
}

}  // namespace fsstream

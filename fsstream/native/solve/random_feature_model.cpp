#include "solve/random_feature_model.hpp"

#include <stdexcept>
#include <utility>

#include "solve/input_rows.hpp"

namespace fsstream {

RandomFeatureModel::RandomFeatureModel(FeatureMap map, bool logarithms, std::span<const Key> keys,
                                       std::span<const float> weights, std::span<const std::uint32_t> classes,
                                       std::span<const double> intercepts)
    : map_(std::move(map)),
      logarithms_(logarithms),
      weights_(weights.begin(), weights.end()),
      classes_(classes.begin(), classes.end()),
      intercepts_(intercepts.begin(), intercepts.end()) {
  if (keys.size() != map_.inputs() || weights.size() != map_.features() || classes.size() != map_.features())
    throw std::invalid_argument("keys, weights and classes do not fit the features");
  for (const std::uint32_t output : classes_)
    if (output >= outputs()) throw std::invalid_argument("a class without an intercept");
  for (const Key key : keys) index_.insert(key);
  if (index_.size() != keys.size()) throw std::invalid_argument("an input comes twice");
}

void RandomFeatureModel::predict(const Batch& batch, float* scores) const {
  std::vector<float> features(map_.features());
  std::vector<std::uint32_t> inputs;
  std::vector<float> values;
  std::vector<double> sums;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    inputs.clear();
    values.clear();
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t input = index_.find(batch.keys[j]);
      if (input == FeatureIndex::kNone) continue;
      inputs.push_back(input);
      values.push_back(logarithms_ ? damped(batch.values[j]) : batch.values[j]);
    }
    map_.row(inputs.data(), values.data(), inputs.size(), features.data());
    sums = intercepts_;
    for (std::size_t f = 0; f < features.size(); ++f)
      sums[classes_[f]] += static_cast<double>(weights_[f]) * static_cast<double>(features[f]);
    for (const double sum : sums) *scores++ = static_cast<float>(sum);
  }
}

}  // namespace fsstream

// RandomFeatureModel: weights of features that are made of the row.
//
//   score[c] = intercept[c] + sum over the features f of class c of weight_f phi_f(row)
//
// Inputs that training did not meet are passed over. Sums run in the features' order, in double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/batch.hpp"
#include "core/feature_index.hpp"
#include "core/feature_map.hpp"

namespace fsstream {

class RandomFeatureModel {
 public:
  RandomFeatureModel(FeatureMap map, bool logarithms, std::span<const Key> keys, std::span<const float> weights,
                     std::span<const std::uint32_t> classes, std::span<const double> intercepts);

  std::size_t outputs() const { return intercepts_.size(); }
  // Writes rows x outputs scores.
  void predict(const Batch& batch, float* scores) const;

 private:
  FeatureMap map_;
  bool logarithms_;
  FeatureIndex index_;
  std::vector<float> weights_;
  std::vector<std::uint32_t> classes_;
  std::vector<double> intercepts_;
};

}  // namespace fsstream

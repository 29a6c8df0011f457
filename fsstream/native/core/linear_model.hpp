// LinearModel: the selected features' weights, as an open table from key to weight row.
//
//   score[c] = intercept[c] + sum over the row's entries of weight[key][c] * value
//
// Sums run in the row's order in double, so a score does not depend on the table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

class LinearModel {
 public:
  // Feature i weighs weights[i] in class classes[i]; a key may occur once per class.
  LinearModel(std::span<const Key> keys, std::span<const float> weights, std::span<const std::uint32_t> classes,
              std::span<const double> intercepts);

  std::size_t outputs() const { return intercepts_.size(); }
  // Writes rows x outputs scores.
  void predict(const Batch& batch, float* scores) const;

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  std::uint32_t find(Key key) const;

  std::vector<double> intercepts_;
  std::size_t mask_ = 0;
  std::vector<Key> slots_;             // open addressing, linear probing
  std::vector<std::uint32_t> places_;  // weight row of the slot, kAbsent when free
  std::vector<float> weights_;         // places x outputs
};

}  // namespace fsstream

// AdditiveModel: weights of what an additive kernel makes of some features.
//
//   score[c] = intercept[c] + sum over features j of g_cj(x_j),   g_cj(v) = sum over f of w_cjf phi_f(v)
//
// g is tabled at the knots of the map, so a value costs one look-up a class. Sums run in double, in
// the order of the row.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/additive_map.hpp"
#include "core/batch.hpp"

namespace fsstream {

class AdditiveModel {
 public:
  // Weight i belongs to feature `parts[i]` of what input `inputs[i]` becomes, in class classes[i].
  AdditiveModel(AdditiveMap map, std::span<const Key> keys, std::vector<ValueRange> ranges,
                std::span<const std::uint32_t> inputs, std::span<const std::uint32_t> parts,
                std::span<const float> weights, std::span<const std::uint32_t> classes,
                std::span<const double> intercepts);

  std::size_t outputs() const { return intercepts_.size(); }
  // Writes rows x outputs scores.
  void predict(const Batch& batch, float* scores) const;

 private:
  AdditiveMap map_;
  std::vector<ValueRange> ranges_;
  std::vector<double> intercepts_;
  std::vector<double> tables_;  // input x class x knot
  std::unordered_map<Key, std::size_t> places_;
};

}  // namespace fsstream

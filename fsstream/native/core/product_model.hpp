// ProductModel: weights of single features and of products of two.
//
//   score[c] = intercept[c] + sum over terms of weight[c] x_a x_b     (x_b = 1 for a single one)
//
// Sums run in the order of the terms, in double.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

class ProductModel {
 public:
  // Term i is a[i], times b[i] where `product[i]` is not 0, and weighs weights[i] in class classes[i].
  ProductModel(std::span<const Key> a, std::span<const Key> b, std::span<const std::uint8_t> product,
               std::span<const float> weights, std::span<const std::uint32_t> classes,
               std::span<const double> intercepts);

  std::size_t outputs() const { return intercepts_.size(); }
  // Writes rows x outputs scores.
  void predict(const Batch& batch, float* scores) const;

 private:
  struct Term {
    std::uint32_t a, b;  // places of the values; place 0 is always 1
    double weight;
    std::uint32_t output;
  };
  std::uint32_t place_of(Key key);

  std::vector<double> intercepts_;
  std::vector<Term> terms_;
  std::unordered_map<Key, std::uint32_t> places_;
};

}  // namespace fsstream

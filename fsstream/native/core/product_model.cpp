#include "core/product_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace fsstream {

ProductModel::ProductModel(std::span<const Key> a, std::span<const Key> b, std::span<const std::uint8_t> product,
                           std::span<const float> weights, std::span<const std::uint32_t> classes,
                           std::span<const double> intercepts)
    : intercepts_(intercepts.begin(), intercepts.end()) {
  if (b.size() != a.size() || product.size() != a.size() || weights.size() != a.size() || classes.size() != a.size())
    throw std::invalid_argument("keys, weights and classes have one entry a term");
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (classes[i] >= outputs()) throw std::invalid_argument("a class without an intercept");
    const std::uint32_t first = place_of(a[i]);
    const std::uint32_t second = product[i] != 0 ? place_of(b[i]) : 0;
    terms_.push_back({first, second, static_cast<double>(weights[i]), classes[i]});
  }
}

std::uint32_t ProductModel::place_of(Key key) {
  return places_.try_emplace(key, static_cast<std::uint32_t>(places_.size() + 1)).first->second;
}

void ProductModel::predict(const Batch& batch, float* scores) const {
  std::vector<double> values(places_.size() + 1);
  std::vector<double> sums;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    std::fill(values.begin(), values.end(), 0.0);
    values[0] = 1.0;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const auto found = places_.find(batch.keys[j]);
      if (found != places_.end()) values[found->second] = static_cast<double>(batch.values[j]);
    }
    sums = intercepts_;
    for (const Term& term : terms_) sums[term.output] += term.weight * values[term.a] * values[term.b];
    for (const double sum : sums) *scores++ = static_cast<float>(sum);
  }
}

}  // namespace fsstream

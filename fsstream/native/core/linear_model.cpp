#include "core/linear_model.hpp"

#include <bit>
#include <stdexcept>

#include "hash/mix.hpp"

namespace fsstream {

LinearModel::LinearModel(std::span<const Key> keys, std::span<const float> weights,
                         std::span<const std::uint32_t> classes, std::span<const double> intercepts)
    : intercepts_(intercepts.begin(), intercepts.end()) {
  if (keys.size() != weights.size() || keys.size() != classes.size())
    throw std::invalid_argument("keys, weights and classes have one entry a feature");
  const std::size_t capacity = std::bit_ceil(2 * keys.size() + 2);
  mask_ = capacity - 1;
  slots_.resize(capacity);
  places_.assign(capacity, kAbsent);
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (classes[i] >= outputs()) throw std::invalid_argument("a class without an intercept");
    std::size_t slot = mix64(keys[i]) & mask_;
    while (places_[slot] != kAbsent && slots_[slot] != keys[i]) slot = (slot + 1) & mask_;
    if (places_[slot] == kAbsent) {
      slots_[slot] = keys[i];
      places_[slot] = used++;
      weights_.resize(used * outputs());
    }
    weights_[places_[slot] * outputs() + classes[i]] += weights[i];
  }
}

std::uint32_t LinearModel::find(Key key) const {
  std::size_t slot = mix64(key) & mask_;
  while (places_[slot] != kAbsent && slots_[slot] != key) slot = (slot + 1) & mask_;
  return places_[slot];
}

void LinearModel::predict(const Batch& batch, float* scores) const {
  std::vector<double> sums(outputs());
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    sums = intercepts_;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t place = find(batch.keys[j]);
      if (place == kAbsent) continue;
      const float* weights = &weights_[place * outputs()];
      for (std::size_t c = 0; c < outputs(); ++c) sums[c] += static_cast<double>(weights[c]) * batch.values[j];
    }
    for (std::size_t c = 0; c < outputs(); ++c) *scores++ = static_cast<float>(sums[c]);
  }
}

}  // namespace fsstream

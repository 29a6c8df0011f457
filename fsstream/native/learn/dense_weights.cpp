#include "learn/dense_weights.hpp"

#include <algorithm>

namespace fsstream {

void DenseWeights::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  table_.hash(batch.keys.data() + first, size, hashed_);
  weights_.reserve(longest + kSlack);
}

double DenseWeights::score(const Row& row) {
  constexpr float kAll = -1.0F;
  return table_.scale() *
         table_.kernels().score_above(table_.rows(hashed_, row.hashed), row.size, row.values(), kAll, weights_.data());
}

void DenseWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / table_.scale());
  for (std::size_t j = 0; j < row.size; ++j) weights_[j] = step * row.values()[j];
  table_.kernels().add(table_.rows(hashed_, row.hashed), row.size, weights_.data());
}

void DenseWeights::shrink(double factor) {
  double rewritten;
  table_.shrink(factor, rewritten);
}

void DenseWeights::seed(Key key, const std::string&, float weight) {
  table_.add(key, static_cast<float>(weight / table_.scale()));
}

void DenseWeights::save(StateWriter& out) const {
  const double scale = table_.scale();
  out.put("table", table_.cells());
  out.put("scale", std::span<const double>(&scale, 1));
}

void DenseWeights::load(const StateReader& in) {
  in.read("table", table_.cells());
  table_.set_scale(of_size(in.doubles("scale"), 1, "scale")[0]);
}

}  // namespace fsstream

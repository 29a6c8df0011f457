#include "solve/ridge_model.hpp"

#include <algorithm>

#include "solve/cholesky.hpp"
#include "solve/curved_rows.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kRowsAColumn = 6;
constexpr std::size_t kWorth = 300;  // so many passes' work, at most, goes into the products
// Of the diagonal's mean: below it rounding has its say in sums of as many floats.
constexpr double kRounding = 1e-4;

}  // namespace

void RidgeModel::build(std::span<const float* const> columns, std::span<const double> curvatures, double l2,
                       bool intercept, std::size_t threads) {
  CurvedRows some;
  const std::size_t size = columns.size();
  const std::size_t worth = kWorth * curvatures.size() / (size * size + 1);
  some.choose(curvatures, std::clamp<std::size_t>(worth, 1, kRowsAColumn) * size);
  gram_.build(columns, some.rows(), some.factors(), intercept, threads);
  double trace = 0;
  for (std::size_t j = 0; j < gram_.size(); ++j) trace += static_cast<double>(gram_.row(j)[j]);
  const double ridge = l2 + kRounding * trace / static_cast<double>(gram_.size());
  for (std::size_t j = 0; j < gram_.size(); ++j) gram_.matrix()[j * gram_.stride() + j] += static_cast<float>(ridge);
  factor_cholesky(gram_.matrix(), gram_.size(), gram_.stride(), threads);
}

void RidgeModel::apply(std::span<double> v) const { solve_cholesky(gram_.row(0), gram_.size(), gram_.stride(), v); }

}  // namespace fsstream

#include "solve/regression_tableau.hpp"

#include <algorithm>

#include "core/dot.hpp"

namespace fsstream {

namespace {

// Sweeps between two fresh starts from G.
constexpr std::size_t kSweepsBeforeRebuild = 1000;

}  // namespace

RegressionTableau::RegressionTableau(std::size_t capacity, double target_squares)
    : capacity_(capacity),
      gram_((capacity + 1) * (capacity + 1)),
      swept_((capacity + 1) * (capacity + 1)),
      in_model_(capacity),
      row_(capacity + 1) {
  gram_[at(capacity_, capacity_)] = target_squares;
  swept_[at(capacity_, capacity_)] = target_squares;
}

double RegressionTableau::score(std::size_t i) const {
  const double product = swept_[at(i, capacity_)];
  if (in_model(i)) return product * product / inverse(i);
  const double left = unexplained(i);
  return left < kCopy ? 0.0 : product * product / left;
}

// j's weight and inverse after a sweep on i, and its score with them.
double RegressionTableau::exchange_gain(std::size_t i, std::size_t j) const {
  const double left = unexplained(i);
  const double explained = swept_[at(j, i)];  // how i regresses on j within the model
  const double own = residual_product(i) / left;
  const double other = weight(j) - explained * own;
  return own * residual_product(i) - other * other / (inverse(j) + explained * explained / left);
}

double RegressionTableau::unexplained_of(std::span<const double> a, double diagonal) {
  std::fill(row_.begin(), row_.end(), 0.0);
  for (std::size_t i = 0; i < size_; ++i)
    if (in_model(i)) add_scaled(-a[i], &swept_[at(i, 0)], row_.data(), size_);
  double explained = 0;
  for (std::size_t i = 0; i < size_; ++i)
    if (in_model(i)) explained += a[i] * row_[i];
  return diagonal - explained;
}

// Row i of the tableau from row i of G, i being outside the model.
void RegressionTableau::add_new_row(std::size_t i) {
  const double* products = &gram_[at(i, 0)];
  for (std::size_t j = 0; j <= capacity_; ++j) row_[j] = j < size_ && in_model(j) ? 0.0 : products[j];
  for (std::size_t j = 0; j < size_; ++j)
    if (in_model(j)) add_scaled(-products[j], &swept_[at(j, 0)], row_.data(), capacity_ + 1);
  double left = products[i];
  for (std::size_t j = 0; j < size_; ++j)
    if (in_model(j)) left -= products[j] * row_[j];
  row_[i] = left;
  for (std::size_t j = 0; j <= capacity_; ++j) {
    swept_[at(i, j)] = row_[j];
    swept_[at(j, i)] = row_[j];
  }
}

void RegressionTableau::put(std::size_t i, std::span<const double> a, double diagonal, double target_product) {
  if (i < size_) {
    if (in_model(i)) sweep_out(i);
  } else {
    ++size_;
  }
  for (std::size_t j = 0; j < size_; ++j) {
    const double product = j == i ? diagonal : a[j];
    gram_[at(i, j)] = product;
    gram_[at(j, i)] = product;
  }
  gram_[at(i, capacity_)] = target_product;
  gram_[at(capacity_, i)] = target_product;
  // Nothing of a variable that stood here before may enter the sums.
  for (std::size_t j = 0; j <= capacity_; ++j) swept_[at(j, i)] = swept_[at(i, j)] = 0.0;
  add_new_row(i);
}

void RegressionTableau::sweep(std::size_t i) {
  const std::size_t width = capacity_ + 1;
  double* pivot_row = &swept_[at(i, 0)];
  const double pivot = pivot_row[i];
  const double sign = in_model(i) ? -1.0 : 1.0;
  std::copy(pivot_row, pivot_row + width, row_.begin());
  for (std::size_t j = 0; j < width; ++j) {
    if (j == i || (j >= size_ && j != capacity_)) continue;
    add_scaled(-row_[j] / pivot, row_.data(), &swept_[at(j, 0)], width);
    swept_[at(j, i)] = sign * row_[j] / pivot;
  }
  for (std::size_t j = 0; j < width; ++j) pivot_row[j] = sign * row_[j] / pivot;
  pivot_row[i] = -1.0 / pivot;
}

void RegressionTableau::sweep_in(std::size_t i) {
  sweep(i);
  in_model_[i] = 1;
  ++model_size_;
  if (++sweeps_ >= kSweepsBeforeRebuild) rebuild();
}

void RegressionTableau::sweep_out(std::size_t i) {
  sweep(i);
  in_model_[i] = 0;
  --model_size_;
  if (++sweeps_ >= kSweepsBeforeRebuild) rebuild();
}

void RegressionTableau::rebuild() {
  std::vector<std::uint8_t> model(in_model_.size());
  model.swap(in_model_);
  swept_ = gram_;
  for (std::size_t i = 0; i < size_; ++i) {
    if (model[i] == 0) continue;
    sweep(i);
    in_model_[i] = 1;
  }
  sweeps_ = 0;
}

}  // namespace fsstream

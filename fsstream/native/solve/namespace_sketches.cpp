#include "solve/namespace_sketches.hpp"

#include <algorithm>

namespace fsstream {

namespace {

constexpr int kDepth = 3;

}  // namespace

void NamespaceSketches::take(std::uint32_t number, std::size_t bytes) {
  std::size_t width = 2;
  while (2 * width * kDepth * sizeof(float) * (shift_ ? 2 : 1) <= bytes && width < (std::size_t{1} << 30)) width *= 2;
  if (number >= sums_.size()) sums_.resize(number + 1);
  sums_[number] = std::make_unique<Sums>(Sums{CountSketch(kDepth, width, seed_), std::nullopt});
  if (shift_) sums_[number]->plain.emplace(kDepth, width, seed_);
  numbers_.push_back(number);
}

std::size_t NamespaceSketches::bytes() const {
  std::size_t sum = 0;
  for (const std::uint32_t number : numbers_)
    sum += sums_[number]->sum.bytes() + (sums_[number]->plain ? sums_[number]->plain->bytes() : 0);
  return sum;
}

void NamespaceSketches::add(std::uint32_t number, Key key, double sum, double plain) {
  Sums& sums = *sums_[number];
  sums.sum.add(key, static_cast<float>(sum));
  if (sums.plain) sums.plain->add(key, static_cast<float>(plain));
}

void NamespaceSketches::finish(double slope, double offset) {
  for (const std::uint32_t number : numbers_) {
    Sums& sums = *sums_[number];
    const std::span<float> cells = sums.sum.cells();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      double cell = slope * static_cast<double>(cells[i]);
      if (sums.plain) cell += offset * static_cast<double>(sums.plain->cells()[i]);
      cells[i] = static_cast<float>(cell);
    }
    sums.plain.reset();
  }
}

void NamespaceSketches::clear() {
  for (const std::uint32_t number : numbers_) {
    const std::span<float> cells = sums_[number]->sum.cells();
    std::fill(cells.begin(), cells.end(), 0.0F);
  }
}

double NamespaceSketches::square(std::uint32_t number) const {
  const CountSketch& sketch = sums_[number]->sum;
  double squares[kDepth] = {};
  for (std::size_t i = 0; i < sketch.cells().size(); ++i) {
    const double cell = static_cast<double>(sketch.cells()[i]);
    squares[i / sketch.width()] += cell * cell;
  }
  std::sort(squares, squares + kDepth);
  return squares[kDepth / 2];
}

}  // namespace fsstream

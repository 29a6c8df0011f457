#include "solve/float_columns.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/dot.hpp"
#include "core/in_parts.hpp"
#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kSide = 4;      // columns side by side
constexpr std::size_t kBlock = 2048;  // rows of y that stay in the nearest cache
constexpr std::size_t kWidth = 8;
constexpr std::size_t kVectors = kDotLanes / kWidth;

using Floats = float __attribute__((vector_size(kWidth * sizeof(float))));
using Doubles = double __attribute__((vector_size(kWidth * sizeof(double))));

[[gnu::always_inline]] inline void add_product(const float* x, const Doubles& right, Doubles& sum) {
  Floats narrow;
  std::memcpy(&narrow, x, sizeof narrow);
  sum += __builtin_convertvector(narrow, Doubles) * right;
}

// Sixteen running sums a column, folded in halves at the end.
void dots_of_four(const float* const* x, const double* y, std::size_t n, double* out) {
  Doubles sums[kSide][kVectors] = {};
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes)
    for (std::size_t v = 0; v < kVectors; ++v) {
      Doubles right;
      std::memcpy(&right, y + i + v * kWidth, sizeof right);
      for (std::size_t c = 0; c < kSide; ++c) add_product(x[c] + i + v * kWidth, right, sums[c][v]);
    }
  for (std::size_t c = 0; c < kSide; ++c) {
    double lanes[kDotLanes];
    std::memcpy(lanes, sums[c], sizeof lanes);
    for (std::size_t lane = 0; i + lane < n; ++lane) lanes[lane] += static_cast<double>(x[c][i + lane]) * y[i + lane];
    for (std::size_t half = kDotLanes / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    out[c] = lanes[0];
  }
}

void add_four(const float* const* x, const double* a, double* __restrict y, std::size_t n) {
  const float* __restrict x0 = x[0];
  const float* __restrict x1 = x[1];
  const float* __restrict x2 = x[2];
  const float* __restrict x3 = x[3];
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  for (std::size_t i = 0; i < n; ++i) {
    double sum = y[i] + a0 * static_cast<double>(x0[i]);
    sum += a1 * static_cast<double>(x1[i]);
    sum += a2 * static_cast<double>(x2[i]);
    y[i] = sum + a3 * static_cast<double>(x3[i]);
  }
}

const auto best_dots = Compiled<&dots_of_four>::best();
const auto best_add = Compiled<&add_four>::best();

void add_to_block(std::span<const float* const> columns, std::span<const double> factors, std::size_t begin,
                  std::size_t rows, double* y) {
  std::size_t j = 0;
  for (; j + kSide <= columns.size(); j += kSide) {
    const float* four[kSide];
    for (std::size_t c = 0; c < kSide; ++c) four[c] = columns[j + c] + begin;
    best_add(four, &factors[j], y + begin, rows);
  }
  for (; j < columns.size(); ++j) add_scaled(factors[j], columns[j] + begin, y + begin, rows);
}

}  // namespace

void dots(std::span<const float* const> columns, const double* y, std::size_t n, double* out, std::size_t threads) {
  in_parts(threads, columns.size(), kSide, [=](std::size_t begin, std::size_t end) {
    std::size_t j = begin;
    for (; j + kSide <= end; j += kSide) best_dots(&columns[j], y, n, out + j);
    for (; j < end; ++j) out[j] = dot(columns[j], y, n);
  });
}

void combine_columns(std::span<const float* const> columns, std::span<const double> factors, double b,
                     std::span<double> out, std::size_t threads) {
  std::vector<const float*> some;
  std::vector<double> theirs;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (factors[j] == 0.0) continue;
    some.push_back(columns[j]);
    theirs.push_back(factors[j]);
  }
  std::fill(out.begin(), out.end(), b);
  in_parts(threads, out.size(), kBlock, [&](std::size_t first, std::size_t last) {
    for (std::size_t begin = first; begin < last; begin += kBlock)
      add_to_block(some, theirs, begin, std::min(kBlock, last - begin), out.data());
  });
}

}  // namespace fsstream

#include "solve/gram.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kPanel = 32;   // columns side by side
constexpr std::size_t kDepth = 128;  // rows at a time: two panels fit the nearest cache
constexpr std::size_t kVector = 16;

using Vector = float __attribute__((vector_size(kVector * sizeof(float))));

// g[r][c] += sum over k of a[k][r] b[k][c], for R rows and V vectors of c.
template <std::size_t R, std::size_t V>
[[gnu::always_inline]] inline void add_tile(const float* a, const float* b, std::size_t depth, float* g,
                                            std::size_t stride) {
  Vector sums[R][V] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Vector right[V];
    for (std::size_t v = 0; v < V; ++v) std::memcpy(&right[v], b + k * kPanel + v * kVector, sizeof(Vector));
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t v = 0; v < V; ++v) sums[r][v] += a[k * kPanel + r] * right[v];
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < V; ++v) {
      float* to = g + r * stride + v * kVector;
      Vector before;
      std::memcpy(&before, to, sizeof(Vector));
      before += sums[r][v];
      std::memcpy(to, &before, sizeof(Vector));
    }
}

// The same for two whole panels; R and V are what the registers hold.
template <std::size_t R, std::size_t V>
void add_panels(const float* a, const float* b, std::size_t depth, float* g, std::size_t stride) {
  for (std::size_t c = 0; c < kPanel; c += V * kVector)
    for (std::size_t r = 0; r < kPanel; r += R) add_tile<R, V>(a + r, b + c, depth, g + r * stride + c, stride);
}

const auto best_panels = instruction_set() == InstructionSet::kAvx512 ? Compiled<&add_panels<8, 2>>::best()
                                                                      : Compiled<&add_panels<4, 1>>::best();

std::size_t padded(std::size_t columns) { return (columns + kPanel - 1) / kPanel * kPanel; }

}  // namespace

std::size_t Gram::bytes_for(std::size_t columns) {
  const std::size_t side = padded(columns);
  return side * (side + kDepth) * sizeof(float);
}

void Gram::find_means(std::span<const float* const> columns, std::span<const std::uint32_t> rows,
                      std::span<const double> factors) {
  const double total = sum_in_lanes(rows.size(), [&](std::size_t i) { return factors[i]; });
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const float* column = columns[j];
    means_[j] =
        sum_in_lanes(rows.size(), [&](std::size_t i) { return factors[i] * static_cast<double>(column[rows[i]]); }) /
        total;
  }
}

void Gram::pack(const float* column, double mean, std::span<const std::uint32_t> rows, const float* roots,
                float* to) const {
  const auto centre = static_cast<float>(mean);
  for (std::size_t k = 0; k < rows.size(); ++k) to[k * kPanel] = roots[k] * (column[rows[k]] - centre);
}

void Gram::build(std::span<const float* const> columns, std::span<const std::uint32_t> rows,
                 std::span<const double> factors, bool centred) {
  size_ = columns.size();
  stride_ = padded(size_);
  means_.assign(size_, 0.0);
  if (centred) find_means(columns, rows, factors);
  entries_.assign_zeros(stride_ * stride_);
  std::vector<float> roots(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) roots[i] = static_cast<float>(std::sqrt(factors[i]));
  AlignedFloats packed;
  packed.assign_zeros(stride_ * kDepth);
  for (std::size_t begin = 0; begin < rows.size(); begin += kDepth) {
    const std::size_t depth = std::min(kDepth, rows.size() - begin);
    const auto some = rows.subspan(begin, depth);
    for (std::size_t j = 0; j < size_; ++j)
      pack(columns[j], means_[j], some, &roots[begin], packed.data() + j / kPanel * kPanel * kDepth + j % kPanel);
    for (std::size_t right = 0; right < stride_; right += kPanel)
      for (std::size_t left = 0; left <= right; left += kPanel)
        best_panels(packed.data() + left * kDepth, packed.data() + right * kDepth, depth,
                    entries_.data() + left * stride_ + right, stride_);
  }
  mirror();
}

void Gram::mirror() {
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < i; ++j) entries_.data()[i * stride_ + j] = entries_.data()[j * stride_ + i];
}

}  // namespace fsstream

#include "solve/gram.hpp"

#include <algorithm>
#include <cmath>

#include "core/lanes.hpp"
#include "solve/panels.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kPacked = 512;  // rows at a time: few jumps from column to column
constexpr std::size_t kDepth = 128;   // multiplied at a time: two panels fit the nearest cache

// Where the first row of a column is packed.
std::size_t place_of(std::size_t column) { return column / kPanel * kPanel * kPacked + column % kPanel; }

}  // namespace

std::size_t Gram::bytes_for(std::size_t columns) {
  const std::size_t side = in_panels(columns);
  return side * (side + kPacked) * sizeof(float);
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
  stride_ = in_panels(size_);
  means_.assign(size_, 0.0);
  if (centred) find_means(columns, rows, factors);
  entries_.assign_zeros(stride_ * stride_);
  std::vector<float> roots(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) roots[i] = static_cast<float>(std::sqrt(factors[i]));
  AlignedFloats packed;
  packed.assign_zeros(stride_ * kPacked);
  for (std::size_t begin = 0; begin < rows.size(); begin += kPacked) {
    const std::size_t some = std::min(kPacked, rows.size() - begin);
    for (std::size_t j = 0; j < size_; ++j)
      pack(columns[j], means_[j], rows.subspan(begin, some), &roots[begin], packed.data() + place_of(j));
    for (std::size_t right = 0; right < stride_; right += kPanel)
      for (std::size_t left = 0; left <= right; left += kPanel)
        for (std::size_t from = 0; from < some; from += kDepth)
          add_panel_product(packed.data() + place_of(left) + from * kPanel,
                            packed.data() + place_of(right) + from * kPanel, std::min(kDepth, some - from),
                            entries_.data() + left * stride_ + right, stride_);
  }
  mirror();
}

void Gram::mirror() {
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < i; ++j) entries_.data()[i * stride_ + j] = entries_.data()[j * stride_ + i];
}

}  // namespace fsstream

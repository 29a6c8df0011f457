#include "solve/gram.hpp"

#include <algorithm>
#include <cmath>

#include "core/in_parts.hpp"
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
                      std::span<const double> factors, std::size_t threads) {
  const double total = sum_in_lanes(rows.size(), [&](std::size_t i) { return factors[i]; });
  in_parts(threads, columns.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const float* column = columns[j];
      const auto weighted = [&](std::size_t i) { return factors[i] * static_cast<double>(column[rows[i]]); };
      means_[j] = sum_in_lanes(rows.size(), weighted) / total;
    }
  });
}

void Gram::pack(const float* column, double mean, std::span<const std::uint32_t> rows, const float* roots,
                float* to) const {
  const auto centre = static_cast<float>(mean);
  for (std::size_t k = 0; k < rows.size(); ++k) to[k * kPanel] = roots[k] * (column[rows[k]] - centre);
}

void Gram::build(std::span<const float* const> columns, std::span<const std::uint32_t> rows,
                 std::span<const double> factors, bool centred, std::size_t threads) {
  size_ = columns.size();
  stride_ = in_panels(size_);
  means_.assign(size_, 0.0);
  if (centred) find_means(columns, rows, factors, threads);
  entries_.assign_zeros(stride_ * stride_);
  std::vector<float> roots(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) roots[i] = static_cast<float>(std::sqrt(factors[i]));
  AlignedFloats packed;
  packed.assign_zeros(stride_ * kPacked);
  for (std::size_t begin = 0; begin < rows.size(); begin += kPacked) {
    const std::size_t some = std::min(kPacked, rows.size() - begin);
    in_parts(threads, size_, kPanel, [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j)
        pack(columns[j], means_[j], rows.subspan(begin, some), &roots[begin], packed.data() + place_of(j));
    });
    // Panels one by one in turn: those further right have more work.
    in_parts(threads, threads, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t turn = first; turn < last; ++turn)
        for (std::size_t right = turn * kPanel; right < stride_; right += threads * kPanel)
          add_products(packed.data(), some, right);
    });
  }
  mirror();
}

// The products of the columns up to a panel with that panel.
void Gram::add_products(const float* packed, std::size_t some, std::size_t right) {
  for (std::size_t left = 0; left <= right; left += kPanel)
    for (std::size_t from = 0; from < some; from += kDepth)
      add_panel_product(packed + place_of(left) + from * kPanel, packed + place_of(right) + from * kPanel,
                        std::min(kDepth, some - from), entries_.data() + left * stride_ + right, stride_);
}

void Gram::mirror() {
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < i; ++j) entries_.data()[i * stride_ + j] = entries_.data()[j * stride_ + i];
}

}  // namespace fsstream

// Gram: G = sum over chosen rows i of f_i (x_i - m)(x_i - m)', for columns of floats: all products of
// columns over weighted rows, centred by their weighted means.
//
// Rows are packed a few at a time into panels (panels.hpp) and multiplied. Each entry sums over the rows in
// their order: the same bits whatever the registers. In float: it shows a descent the way, and is no result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fsstream {

// Floats by the cache line: no register's load spans two of them.
class AlignedFloats {
 public:
  void assign_zeros(std::size_t count) { lines_.assign((count + kInLine - 1) / kInLine, Line{}); }
  float* data() { return lines_.data()->values; }
  const float* data() const { return lines_.data()->values; }

 private:
  static constexpr std::size_t kInLine = 16;
  struct alignas(kInLine * sizeof(float)) Line {
    float values[kInLine];
  };
  std::vector<Line> lines_;
};

class Gram {
 public:
  // rows: which, in rising order; factors: one for each of them, positive.
  void build(std::span<const float* const> columns, std::span<const std::uint32_t> rows,
             std::span<const double> factors, bool centred, std::size_t threads);

  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  const float* row(std::size_t j) const { return entries_.data() + j * stride_; }
  // All rows, for who wants to change them.
  float* matrix() { return entries_.data(); }
  // Weighted means of the columns; 0 unless centred.
  std::span<const double> means() const { return means_; }
  static std::size_t bytes_for(std::size_t columns);

 private:
  void find_means(std::span<const float* const> columns, std::span<const std::uint32_t> rows,
                  std::span<const double> factors, std::size_t threads);
  void pack(const float* column, double mean, std::span<const std::uint32_t> rows, const float* roots, float* to) const;
  void add_products(const float* packed, std::size_t some, std::size_t right);
  void mirror();

  std::size_t size_ = 0;
  std::size_t stride_ = 0;
  std::vector<double> means_;
  AlignedFloats entries_;
};

}  // namespace fsstream

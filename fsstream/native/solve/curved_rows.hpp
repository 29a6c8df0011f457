// CurvedRows: few rows that stand for the curvature of all.
//
// Few rows have most of it (none of a row that is well on its side has any, with the squared hinge), and
// a sample of those will do for products of columns, as long as it is several times as many as columns.
// Their factors are raised so that they sum to the whole curvature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fsstream {

class CurvedRows {
 public:
  static constexpr std::size_t kRowBytes = sizeof(std::uint32_t) + sizeof(double) + sizeof(float);
  // About `most` rows, when there are more with a curvature; never fewer than 1,024 of them.
  void choose(std::span<const double> curvatures, std::size_t most);

  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const double> factors() const { return factors_; }
  double total() const { return total_; }
  // Whether rows with a curvature were left out beyond the few flattest.
  bool sampled() const { return sampled_; }

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<double> factors_;
  double total_ = 0;  // of the curvatures
  bool sampled_ = false;
};

}  // namespace fsstream

// Rate: the step size eta, given or found from the rows.
//
//   eta_t = 1/2 exp(-1/2 mean over rows so far, this one included, of ln(1 + |x|^2))
//
// A first step of adaptive methods moves every weight by about eta whatever the gradient, so
// the prediction by eta |x|_1 at most; half the inverse of a typical row's length keeps that
// near the margin of 1. The geometric mean is not led by a few long rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/batch.hpp"
#include "core/math.hpp"

namespace fsstream {

class Rate {
 public:
  // 0: to be found.
  explicit Rate(double given) : given_(given), eta_(given) {}

  double eta() const { return eta_; }

  void meet(const Batch& batch, std::size_t row) {
    if (given_ != 0.0) return;
    double square = 0.0;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const double x = batch.values[j];
      square += x * x;
    }
    ++rows_;
    logs_ += fsstream::log1p(square);
    follow();
  }

  double logs() const { return logs_; }
  std::uint64_t rows() const { return rows_; }
  void restore(double logs, double rows) {
    logs_ = logs;
    rows_ = static_cast<std::uint64_t>(rows);
    follow();
  }

 private:
  void follow() {
    if (given_ == 0.0 && rows_ != 0) eta_ = 0.5 * fsstream::exp(-0.5 * logs_ / static_cast<double>(rows_));
  }

  double given_;
  double eta_;
  double logs_ = 0.0;
  std::uint64_t rows_ = 0;
};

}  // namespace fsstream

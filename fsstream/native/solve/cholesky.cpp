#include "solve/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dot.hpp"
#include "core/in_parts.hpp"
#include "solve/panels.hpp"

namespace fsstream {

namespace {

constexpr float kSmallestPivot = 1e-6f;  // of the entry on the diagonal

class Factoring {
 public:
  Factoring(float* matrix, std::size_t size, std::size_t stride, std::size_t threads)
      : matrix_(matrix),
        size_(size),
        stride_(stride),
        threads_(threads),
        below_(stride * kPanel),
        negative_(stride * kPanel) {
    for (std::size_t i = 0; i < size; ++i) diagonal_.push_back(row(i)[i]);
  }

  void run() {
    for (std::size_t begin = 0; begin < size_; begin += kPanel) {
      const std::size_t end = std::min(begin + kPanel, size_);
      for (std::size_t i = begin; i < size_; ++i) solve_row(i, begin, std::min(i + 1, end));
      if (end < size_) subtract_products(begin, end);
    }
  }

 private:
  float* row(std::size_t i) { return matrix_ + i * stride_; }

  // L[i][begin .. end) from the rows of the block above it.
  void solve_row(std::size_t i, std::size_t begin, std::size_t end) {
    float* own = row(i);
    for (std::size_t c = begin; c < end; ++c) {
      const float* above = row(c);
      float left = own[c];
      for (std::size_t d = begin; d < c; ++d) left -= own[d] * above[d];
      if (c == i)
        own[c] = std::sqrt(std::max({left, kSmallestPivot * diagonal_[i], 1e-30f}));
      else
        own[c] = left / above[c];
    }
  }

  // What the block's columns leave of the columns after it.
  void subtract_products(std::size_t begin, std::size_t end) {
    for (std::size_t i = end; i < stride_; ++i)
      for (std::size_t k = 0; k < kPanel; ++k) {
        const std::size_t place = (i / kPanel * kPanel + k) * kPanel + i % kPanel;
        below_[place] = i < size_ ? row(i)[begin + k] : 0.0f;
        negative_[place] = -below_[place];
      }
    in_parts(threads_, threads_, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t turn = first; turn < last; ++turn)
        for (std::size_t low = end + turn * kPanel; low < stride_; low += threads_ * kPanel)
          for (std::size_t left = end; left <= low; left += kPanel)
            add_panel_product(&below_[low * kPanel], &negative_[left * kPanel], kPanel, row(low) + left, stride_);
    });
  }

  float* matrix_;
  std::size_t size_, stride_, threads_;
  std::vector<float> below_, negative_, diagonal_;
};

}  // namespace

void factor_cholesky(float* matrix, std::size_t size, std::size_t stride, std::size_t threads) {
  Factoring(matrix, size, stride, threads).run();
}

void solve_cholesky(const float* matrix, std::size_t size, std::size_t stride, std::span<double> v) {
  for (std::size_t i = 0; i < size; ++i) {
    const float* row = matrix + i * stride;
    v[i] = (v[i] - dot(row, v.data(), i)) / static_cast<double>(row[i]);
  }
  for (std::size_t i = size; i-- > 0;) {
    const float* row = matrix + i * stride;
    v[i] /= static_cast<double>(row[i]);
    add_scaled(-v[i], row, v.data(), i);
  }
}

}  // namespace fsstream

#include "solve/float_columns.hpp"

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kFloatLanes = 32;
constexpr std::size_t kBlock = 1024;

template <class Term>
inline double carried_sum(std::size_t n, Term term) {
  double total = 0;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = begin + kBlock < n ? begin + kBlock : n;
    float lanes[kFloatLanes] = {};
    std::size_t i = begin;
    for (; i + kFloatLanes <= end; i += kFloatLanes)
      for (std::size_t lane = 0; lane < kFloatLanes; ++lane) lanes[lane] += term(i + lane);
    for (std::size_t lane = 0; i + lane < end; ++lane) lanes[lane] += term(i + lane);
    for (std::size_t half = kFloatLanes / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    total += static_cast<double>(lanes[0]);
  }
  return total;
}

double square_loop(const float* x, const float* d, std::size_t n) {
  return carried_sum(n, [=](std::size_t i) { return d[i] * x[i] * x[i]; });
}

const auto best_square = Compiled<&square_loop>::best();

}  // namespace

double float_square_sum(const float* x, const float* d, std::size_t n) { return best_square(x, d, n); }

}  // namespace fsstream

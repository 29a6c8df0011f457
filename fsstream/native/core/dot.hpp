// Dot products and scaled sums with the same bits on every machine.
//
// Products are taken in double; element i is added to lane i % 16, and the lanes are added
// pairwise at the end (l and l+8, then +4, +2, +1). The order depends on nothing but the
// length, so the widest instruction set at hand may be used: dot.cpp picks one at start-up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsstream {

constexpr std::size_t kDotLanes = 16;

double dot(const float* x, const float* y, std::size_t n);
double dot(const float* x, const double* y, std::size_t n);
double dot(const double* x, const double* y, std::size_t n);
double dot(const std::int16_t* x, const float* y, std::size_t n);
double dot(const std::int16_t* x, const double* y, std::size_t n);

// What a column says about itself and about a residual, from one read of it.
struct ColumnMoments {
  double with_residual;  // sum of x_i r_i
  double sum;            // sum of x_i
  double squares;        // sum of x_i^2
};
ColumnMoments column_moments(const float* x, const double* residual, std::size_t n);

// The same at the speed of memory: in single precision, carried over to double every 1,024
// elements. No sum is off by more than kScreenError times the sum of its terms' sizes.
constexpr double kScreenError = 8e-6;
ColumnMoments screen_moments(const float* x, const float* residual, std::size_t n);

// y += a x
void add_scaled(double a, const float* x, double* y, std::size_t n);
void add_scaled(double a, const double* x, double* y, std::size_t n);
void add_scaled(double a, const std::int16_t* x, double* y, std::size_t n);

// The same without wider registers: what the tests compare with.
double dot_baseline(const float* x, const double* y, std::size_t n);
double dot_baseline(const std::int16_t* x, const double* y, std::size_t n);
ColumnMoments screen_moments_baseline(const float* x, const float* residual, std::size_t n);

}  // namespace fsstream

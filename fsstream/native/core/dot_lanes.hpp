// The bodies of core/dot.hpp, compiled once for the baseline and once for AVX2.
//
// Everything is in an unnamed namespace: each translation unit has its own copy, so that no
// code for a wider instruction set can leak into the rest of the program through the linker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "core/dot.hpp"

namespace fsstream {

// One of these per instruction set; dot.cpp picks one at start-up.
struct DotTable {
  double (*floats)(const float*, const float*, std::size_t);
  double (*mixed)(const float*, const double*, std::size_t);
  double (*doubles)(const double*, const double*, std::size_t);
  double (*codes_floats)(const std::int16_t*, const float*, std::size_t);
  double (*codes_doubles)(const std::int16_t*, const double*, std::size_t);
  ColumnMoments (*moments)(const float*, const double*, std::size_t);
  ColumnMoments (*screen)(const float*, const float*, std::size_t);
  void (*add_floats)(double, const float*, double*, std::size_t);
  void (*add_doubles)(double, const double*, double*, std::size_t);
  void (*add_codes)(double, const std::int16_t*, double*, std::size_t);
};

const DotTable& dot_table_avx2();  // meaningful on x86-64 only

namespace {

// Portable vectors of the compiler: split into what the instruction set has, with equal bits.
using Doubles = double __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(16)));
using Codes = std::int16_t __attribute__((vector_size(8)));
constexpr std::size_t kWidth = 4;
constexpr std::size_t kVectors = kDotLanes / kWidth;

[[gnu::always_inline]] inline void load(const double* from, Doubles& to) { std::memcpy(&to, from, sizeof to); }
[[gnu::always_inline]] inline void load(const float* from, Doubles& to) {
#if defined(__AVX__)
  to = _mm256_cvtps_pd(_mm_loadu_ps(from));  // gcc splits the portable form in two
#else
  Floats narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Doubles);
#endif
}
[[gnu::always_inline]] inline void load(const std::int16_t* from, Doubles& to) {
#if defined(__AVX__)
  to = _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  Codes narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Doubles);
#endif
}

// Sixteen running sums.
struct Lanes {
  Doubles part[kVectors] = {};

  [[gnu::always_inline]] inline double total() const {
    const Doubles four = (part[0] + part[2]) + (part[1] + part[3]);
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
};

// The last elements, padded with zeros to a whole stride; adding +0 changes no bit of a sum
// that began at +0.
template <class T>
struct Tail {
  T values[kDotLanes] = {};
  [[gnu::always_inline]] inline Tail(const T* from, std::size_t count) { std::memcpy(values, from, count * sizeof(T)); }
};

template <class X, class Y>
[[gnu::always_inline]] inline void add_products(const X* x, const Y* y, Lanes& sum) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    Doubles a, b;
    load(x + v * kWidth, a);
    load(y + v * kWidth, b);
    sum.part[v] += a * b;
  }
}

template <class X, class Y>
double dot_lanes(const X* x, const Y* y, std::size_t n) {
  Lanes sum;
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) add_products(x + i, y + i, sum);
  if (i < n) add_products(Tail<X>(x + i, n - i).values, Tail<Y>(y + i, n - i).values, sum);
  return sum.total();
}

[[gnu::always_inline]] inline void add_moments(const float* x, const double* r, Lanes& dots, Lanes& sums,
                                               Lanes& squares) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    Doubles a, b;
    load(x + v * kWidth, a);
    load(r + v * kWidth, b);
    dots.part[v] += a * b;
    sums.part[v] += a;
    squares.part[v] += a * a;
  }
}

inline ColumnMoments moments_lanes(const float* x, const double* r, std::size_t n) {
  Lanes dots, sums, squares;
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) add_moments(x + i, r + i, dots, sums, squares);
  if (i < n) add_moments(Tail<float>(x + i, n - i).values, Tail<double>(r + i, n - i).values, dots, sums, squares);
  return {dots.total(), sums.total(), squares.total()};
}

// Sixteen running sums in single precision, carried over to double every kScreenBlock elements.
constexpr std::size_t kScreenBlock = 1024;
using EightFloats = float __attribute__((vector_size(32)));
struct FloatLanes {
  EightFloats part[2] = {};

  [[gnu::always_inline]] inline double total() const {
    const EightFloats eight = part[0] + part[1];
    const Floats four = {eight[0] + eight[4], eight[1] + eight[5], eight[2] + eight[6], eight[3] + eight[7]};
    return static_cast<double>((four[0] + four[2]) + (four[1] + four[3]));
  }
};

[[gnu::always_inline]] inline void add_screened(const float* x, const float* r, FloatLanes* sums) {
  for (std::size_t v = 0; v < 2; ++v) {
    EightFloats a, b;
    std::memcpy(&a, x + v * 8, sizeof a);
    std::memcpy(&b, r + v * 8, sizeof b);
    sums[0].part[v] += a * b;
    sums[1].part[v] += a;
    sums[2].part[v] += a * a;
  }
}

inline ColumnMoments screen_lanes(const float* x, const float* r, std::size_t n) {
  ColumnMoments total{};
  for (std::size_t begin = 0; begin < n; begin += kScreenBlock) {
    const std::size_t end = begin + kScreenBlock < n ? begin + kScreenBlock : n;
    FloatLanes sums[3];
    std::size_t i = begin;
    for (; i + kDotLanes <= end; i += kDotLanes) add_screened(x + i, r + i, sums);
    if (i < end) add_screened(Tail<float>(x + i, end - i).values, Tail<float>(r + i, end - i).values, sums);
    total.with_residual += sums[0].total();
    total.sum += sums[1].total();
    total.squares += sums[2].total();
  }
  return total;
}

template <class X>
void add_scaled_lanes(double a, const X* x, double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * static_cast<double>(x[i]);
}

constexpr DotTable kLanesTable{&dot_lanes<float, float>,
                               &dot_lanes<float, double>,
                               &dot_lanes<double, double>,
                               &dot_lanes<std::int16_t, float>,
                               &dot_lanes<std::int16_t, double>,
                               &moments_lanes,
                               &screen_lanes,
                               &add_scaled_lanes<float>,
                               &add_scaled_lanes<double>,
                               &add_scaled_lanes<std::int16_t>};

}  // namespace

}  // namespace fsstream

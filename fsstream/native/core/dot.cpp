#include "core/dot.hpp"

#include "core/dot_lanes.hpp"

namespace fsstream {

namespace {

const DotTable& pick_table() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return dot_table_avx2();
#endif
  return kLanesTable;
}

const DotTable& kTable = pick_table();

}  // namespace

double dot(const float* x, const float* y, std::size_t n) { return kTable.floats(x, y, n); }
double dot(const float* x, const double* y, std::size_t n) { return kTable.mixed(x, y, n); }
double dot(const double* x, const double* y, std::size_t n) { return kTable.doubles(x, y, n); }
double dot(const std::int16_t* x, const float* y, std::size_t n) { return kTable.codes_floats(x, y, n); }
double dot(const std::int16_t* x, const double* y, std::size_t n) { return kTable.codes_doubles(x, y, n); }

ColumnMoments column_moments(const float* x, const double* residual, std::size_t n) {
  return kTable.moments(x, residual, n);
}

ColumnMoments screen_moments(const float* x, const float* residual, std::size_t n) {
  return kTable.screen(x, residual, n);
}

void add_scaled(double a, const float* x, double* y, std::size_t n) { kTable.add_floats(a, x, y, n); }
void add_scaled(double a, const double* x, double* y, std::size_t n) { kTable.add_doubles(a, x, y, n); }
void add_scaled(double a, const std::int16_t* x, double* y, std::size_t n) { kTable.add_codes(a, x, y, n); }

double dot_baseline(const float* x, const double* y, std::size_t n) { return kLanesTable.mixed(x, y, n); }
double dot_baseline(const std::int16_t* x, const double* y, std::size_t n) {
  return kLanesTable.codes_doubles(x, y, n);
}

ColumnMoments screen_moments_baseline(const float* x, const float* residual, std::size_t n) {
  return kLanesTable.screen(x, residual, n);
}

}  // namespace fsstream

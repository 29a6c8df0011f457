// What sweeps of coordinate descent do with a column, in single precision and fixed lanes: the
// same bits whatever the registers. Sums are carried over to double every 1,024 elements.
#pragma once

#include <cstddef>

namespace fsstream {

// sum of x_i q_i
double float_dot(const float* x, const float* q, std::size_t n);
// sum of d_i x_i^2
double float_square_sum(const float* x, const float* d, std::size_t n);
// q_i += a d_i x_i
void float_add(float a, const float* d, const float* x, float* q, std::size_t n);

}  // namespace fsstream

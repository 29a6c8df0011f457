// Weighted squares of a column, in single precision and fixed lanes: the same bits whatever the
// registers. Sums are carried over to double every 1,024 elements.
#pragma once

#include <cstddef>

namespace fsstream {

// sum of d_i x_i^2
double float_square_sum(const float* x, const float* d, std::size_t n);

}  // namespace fsstream

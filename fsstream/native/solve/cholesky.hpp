// Cholesky factors of a symmetric matrix of floats, in its place: it is there to point the way.
//
//   A = L L'   block by block of 32 columns: the block, the rows below it, their products off the rest
//
// Pivots that rounding has brought near zero or below are raised, so L L' is always positive.
#pragma once

#include <cstddef>
#include <span>

namespace fsstream {

// matrix: `size` rows of `stride` floats, stride in whole panels (panels.hpp), what is beyond `size` zero
// on entry. Leaves L in the lower triangle.
void factor_cholesky(float* matrix, std::size_t size, std::size_t stride, std::size_t threads);
// v becomes (L L')^-1 v.
void solve_cholesky(const float* matrix, std::size_t size, std::size_t stride, std::span<double> v);

}  // namespace fsstream

// Many columns of floats against one vector of doubles, with the same bits whatever the registers.
//
// Columns go four at a time, so that the vector is read once for four of them; each number is summed
// in the order in which dot() and add_scaled() (core/dot.hpp) sum it, by one thread.
#pragma once

#include <cstddef>
#include <span>

namespace fsstream {

// out[j] = sum over i of columns[j][i] y[i]
void dots(std::span<const float* const> columns, const double* y, std::size_t n, double* out, std::size_t threads);
// out = b + sum over j of factors[j] columns[j]; a column whose factor is 0 is not read.
void combine_columns(std::span<const float* const> columns, std::span<const double> factors, double b,
                     std::span<double> out, std::size_t threads);

}  // namespace fsstream

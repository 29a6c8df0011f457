// FinalRefit: which k of some candidates stay, and their weights, from all rows of a short stream.
//
//   minimise over z, b   sum h_t loss(b + sum_j z_j x_tj / u_j, y_t) + (lambda / 2) (|z|^2 + b^2)
//
// u_j is the root mean square of column j where it occurs, so z_j = w_j u_j is its contribution at typical size,
// in any unit. A column's claim is, as in learn/newton.hpp, |z_j| (C_j + lambda)^(1/4), C_j its curvature in all rows.
// While there are more than k columns, the seven tenths with the largest claims stay, no fewer than k, and are
// fitted again from where they stood: columns that say the same share a weight, and the one that stays takes
// it over, which a single cut does not see. So far lambda = 2. The weights of those that stay are of the lambda of
// 128, 32, 8, 2, 1/2 with which all candidates, fitted to four rows in five, say most of the fifth: asked before any
// goes, since what was chosen by all rows would look good on each.
//
// Columns of a table count less their means (learn/column_means.hpp), b is then what is left there; their u_j is of all
// rows.
//
// Solver: Newton steps by conjugate gradients, preconditioned by the diagonal, with halving. Rows in input order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/batch.hpp"
#include "learn/loss.hpp"

namespace fsstream {

struct FinalRefit {
  std::vector<Key> keys;  // ascending, at most k
  std::vector<double> weights;
  double intercept = 0.0;
};

// `candidates` ascending, with what is taken off the values of each (learn/column_means.hpp), 0 for most.
FinalRefit refit_best(const Batch& rows, std::span<const Key> candidates, std::span<const double> means, std::size_t k,
                      const Loss& loss, bool intercept);

}  // namespace fsstream

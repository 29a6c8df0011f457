// FinalRefit: which k of some candidates stay, and their weights, from all rows of a short stream.
//
//   minimise over z, b   sum h_t loss(b + sum_j z_j x_tj / u_j, y_t) + (lambda / 2) (|z|^2 + b^2)
//
// u_j is the root mean square of column j where it occurs, so z_j = w_j u_j is its contribution at typical size,
// in any unit. A column's claim is, as in learn/newton.hpp, |z_j| (C_j + lambda)^(1/4), C_j its curvature in all rows.
// While there are more than k columns, the seven tenths with the largest claims stay, no fewer than k, and are
// fitted again from where they stood. Columns that say the same share a weight; the one that stays takes it over,
// which a single cut would not see. Until here lambda is 2.
//
// The k that stay are fitted once more, with a lambda of 128, 32, 8, 2 or 1/2: the one with which all candidates,
// fitted to four rows in five, predict the fifth best. That is asked before any column goes, since columns that were
// chosen by all rows would look good on each of them.
//
// Numbers (squared loss) with an intercept count less their mean, which b does not have to make against lambda.
//
// In a table, values count from the means of their columns (learn/column_means.hpp). b is then the score of a row that
// is at all means, and u_j is taken over all rows.
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

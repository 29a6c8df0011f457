// The Moreau projection of the squared l2,1 norm (Algorithm 3).
//
//   argmin over w of  tau/2 |w - u|^2 + 1/2 (sum over h of |w_h|)^2
//
// Given the norms o_h = |u_h|, sorted from large to small, and s = 1 / tau:
//   rho  = the largest h with  o_(h) - s / (1 + h s) sum_{i <= h} o_(i) > 0
//   zeta = s / (1 + rho s) sum_{i <= rho} o_(i)
//   w_h  = max(0, o_h - zeta) / o_h  u_h
// The paper prints g_h where equation (34) has u_h, and t for the running index h.
#pragma once

#include <span>
#include <vector>

namespace fsstream {

// In: the norms of the groups. Out, in place: the factor each group is multiplied by.
// Returns sum over h of |w_h|. `sorted` is scratch.
double moreau_factors(std::span<double> norms, double tau, std::vector<double>& sorted);

}  // namespace fsstream

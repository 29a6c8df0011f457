// The reduced problem (30) of one round of the Feature Generating Machine, and its solver.
//
//   minimise over w, b   F = 1/2 (sum over h of |w_h|)^2 + P(X w - b)
//
// w_h are the weights of the columns that round h brought in. Solver: the accelerated
// proximal gradient method of Algorithm 4. Per iteration, at the point v:
//
//   g  = gradient of P at v;  tau = eta tau_before, grown by 1/eta until
//   w' = S_tau(v - g / tau)  satisfies  P(w') <= P(v) + <g, w' - v> + tau/2 |w' - v|^2
//   b' = v_b - grad_b / tau_b by its own line search (35), after w'
//   v  = w' + (rho_k - 1) / rho_{k+1} (w' - w),  the same for b
//
// The result goes to w, b and tau, which are also where the next solve starts (warm start).
// Departures, and why:
//   - tau is capped by the sum of all cost-weighted squares of the columns, which bounds the
//     Lipschitz constant; the paper's cap is its estimate, below which the search never ends.
//   - grad_b is taken at (w', v_b), where the step of (35) is taken from, not at (v, v_b):
//     there it is a direction of descent.
//   - with `restart` an iteration that raises F is taken back and the momentum starts anew;
//     without it the method is the paper's, which may stop on such an iteration.
//     With it tau also shrinks only after a step whose first trial held: half the trials.
// Line search costs O(n t) with the products of section 5.5, X_h v_h and X_h g_h, kept for
// every group; when the columns are so sparse that they hold fewer entries than that, the
// products are summed from the columns instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/column_cache.hpp"
#include "solve/empirical_loss.hpp"

namespace fsstream {

struct ProximalOptions {
  double tolerance = 1e-3;  // (40): relative decrease of F in one iteration
  std::size_t iterations = 10000;
  double eta = 0.8;
  bool shift = false;  // with b
  bool restart = true;
  bool cached_products = true;  // false: always sum from the columns
};

// Where the solver starts and what it leaves. Members of group h are columns
// members[starts[h]] .. members[starts[h + 1]]; weights has one entry a member.
struct ReducedSolution {
  std::vector<std::size_t> starts{0};
  std::vector<std::uint32_t> members;
  std::vector<double> weights;
  double bias = 0.0;
  double tau = 0.0;        // 0: 0.01 n C, the paper's first guess
  double objective = 0.0;  // F
  double norm = 0.0;       // sum over h of |w_h|
  std::size_t iterations = 0;
  std::vector<double> history;   // F after each iteration (Figure 1)
  std::vector<double> decision;  // u = X w - b, summed afresh from the columns

  std::size_t groups() const { return starts.size() - 1; }
};

void solve_reduced(const ColumnCache& columns, const EmpiricalLoss& loss, const ProximalOptions& options,
                   ReducedSolution& solution);

// u = X w - b from the columns, in the order of the members.
void decision_values(const ColumnCache& columns, const ReducedSolution& solution, std::span<double> u);

}  // namespace fsstream

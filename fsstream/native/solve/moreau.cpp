#include "solve/moreau.hpp"

#include <algorithm>
#include <functional>

namespace fsstream {

double moreau_factors(std::span<double> norms, double tau, std::vector<double>& sorted) {
  const double s = 1.0 / tau;
  sorted.assign(norms.begin(), norms.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0.0;
  double threshold = 0.0;
  double h = 0.0;
  // The test fails for good once it has failed: stopping there finds the largest h.
  for (const double norm : sorted) {
    h += 1.0;
    const double next = s / (1.0 + h * s) * (sum + norm);
    if (norm - next <= 0.0) break;
    sum += norm;
    threshold = next;
  }
  double total = 0.0;
  for (double& norm : norms) {
    const double kept = std::max(0.0, norm - threshold);
    total += kept;
    norm = kept > 0.0 ? kept / norm : 0.0;
  }
  return total;
}

}  // namespace fsstream

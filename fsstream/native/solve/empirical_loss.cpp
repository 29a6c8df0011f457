#include "solve/empirical_loss.hpp"

#include <algorithm>
#include <cmath>

#include "core/lanes.hpp"
#include "core/math.hpp"

namespace fsstream {

namespace {

// Ours, with the same bits on every machine; plain calls would be ambiguous with glibc's.
using fsstream::exp;
using fsstream::log;
using fsstream::log1p;

struct SquaredHinge {
  static double value(double y, double u) {
    const double gap = std::max(0.0, 1.0 - y * u);
    return 0.5 * gap * gap;
  }
  static double residual(double y, double u) { return y * std::max(0.0, 1.0 - y * u); }
  // With a = alpha / c: a^2 / 2 - a.
  static double conjugate(double y, double r) { return 0.5 * r * r - r * y; }
};

struct Logistic {
  static double value(double y, double u) {
    const double m = y * u;
    return log1p(exp(-std::abs(m))) + std::max(0.0, -m);
  }
  static double residual(double y, double u) { return y / (1.0 + exp(y * u)); }
  static double entropy(double p) { return p > 1e-300 ? p * log(p) : 0.0; }
  static double conjugate(double y, double r) { return entropy(r * y) + entropy(1.0 - r * y); }
};

struct Squared {
  static double value(double y, double u) { return 0.5 * (y - u) * (y - u); }
  static double residual(double y, double u) { return y - u; }
  static double conjugate(double y, double r) { return 0.5 * r * r - r * y; }
};

template <class Visit>
double dispatch(FgmLoss loss, Visit visit) {
  if (loss == FgmLoss::kSquaredHinge) return visit(SquaredHinge{});
  if (loss == FgmLoss::kLogistic) return visit(Logistic{});
  return visit(Squared{});
}

}  // namespace

double EmpiricalLoss::value(std::span<const double> u) const {
  return dispatch(loss_, [&](auto loss) {
    return sum_in_eight_lanes(rows(), [&](std::size_t i) { return costs_[i] * loss.value(targets_[i], u[i]); });
  });
}

double EmpiricalLoss::residuals(std::span<const double> u, std::span<double> r) const {
  return dispatch(loss_, [&](auto loss) {
    for (std::size_t i = 0; i < rows(); ++i) r[i] = costs_[i] * loss.residual(targets_[i], u[i]);
    return sum_in_eight_lanes(rows(), [&](std::size_t i) { return r[i]; });
  });
}

double EmpiricalLoss::conjugate(std::span<const double> r) const {
  return dispatch(loss_, [&](auto loss) {
    return sum_in_eight_lanes(rows(), [&](std::size_t i) {
      return costs_[i] > 0.0 ? costs_[i] * loss.conjugate(targets_[i], r[i] / costs_[i]) : 0.0;
    });
  });
}

}  // namespace fsstream

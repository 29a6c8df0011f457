#include "solve/column_refit.hpp"

#include <algorithm>
#include <cmath>

#include "core/dot.hpp"
#include "core/stop.hpp"

namespace fsstream {

namespace {

constexpr int kNewtonSteps = 100;
constexpr double kShared = 1e-8;      // added to every diagonal, relative: copies share their weight
constexpr double kEmpty = 1e-12;      // pivot below this share of its diagonal: nothing is left
constexpr double kEnough = 1e-10;     // relative fall of the objective that ends the steps
constexpr double kSufficient = 1e-4;  // Armijo's constant

// Solves A x = b for a symmetric positive semidefinite A (row major, destroyed).
std::vector<double> solve_symmetric(std::vector<double>& a, std::vector<double> b) {
  const std::size_t k = b.size();
  std::vector<double> pivots(k);
  for (std::size_t j = 0; j < k; ++j) {
    double* row = &a[j * k];
    const double diagonal = row[j] * (1 + kShared);
    for (std::size_t i = 0; i < j; ++i) {
      const double sum = row[i] - dot(row, &a[i * k], i);  // row[i] becomes L_ji d_i
      row[i] = sum;
    }
    double pivot = diagonal;
    for (std::size_t i = 0; i < j; ++i) {
      const double scaled = pivots[i] > 0 ? row[i] / pivots[i] : 0.0;
      pivot -= row[i] * scaled;
      row[i] = scaled;
    }
    pivots[j] = pivot > kEmpty * diagonal ? pivot : 0.0;
    for (std::size_t i = 0; i < j; ++i) b[j] -= row[i] * b[i];
  }
  for (std::size_t j = 0; j < k; ++j) b[j] = pivots[j] > 0 ? b[j] / pivots[j] : 0.0;
  for (std::size_t j = k; j-- > 0;)
    for (std::size_t i = 0; i < j; ++i) b[i] -= a[j * k + i] * b[j];
  return b;
}

// The problem in columns of mean square 1; the intercept is the last variable.
class Refit {
 public:
  Refit(const FeatureColumns& columns, std::span<const std::size_t> slots, std::span<const double> targets,
        const ColumnLoss& loss, const RefitOptions& options)
      : columns_(columns),
        slots_(slots),
        y_(targets),
        loss_(loss),
        options_(options),
        n_(targets.size()),
        size_(slots.size() + (options.intercept ? 1 : 0)),
        weights_(size_),
        u_(n_),
        slope_(n_),
        curvature_(n_),
        scaled_(n_) {
    root_n_ = std::sqrt(static_cast<double>(n_));
    for (const std::size_t slot : slots_) {
      const double length = columns_.length(slot);
      ridges_.push_back(options.unit_scale ? options.ridge
                                           : options.ridge * static_cast<double>(n_) / (length * length));
    }
  }

  RefittedModel run() {
    double value = objective(weights_, u_);
    for (int step = 0; step < kNewtonSteps; ++step) {
      const double before = value;
      value = descend(value);
      if (before - value <= kEnough * std::abs(before)) break;
    }
    return in_raw_columns();
  }

 private:
  double objective(const std::vector<double>& weights, std::vector<double>& u) const {
    double offset = options_.intercept ? -weights.back() : 0.0;
    std::fill(u.begin(), u.end(), 0.0);
    for (std::size_t j = 0; j < slots_.size(); ++j) columns_.add_to(slots_[j], weights[j] * root_n_, u.data(), offset);
    for (double& prediction : u) prediction -= offset;
    double penalty = 0;
    for (std::size_t j = 0; j < slots_.size(); ++j) penalty += ridges_[j] * weights[j] * weights[j];
    return loss_.mean(u.data(), y_.data(), n_) + 0.5 * penalty;
  }

  double sum_of(const std::vector<double>& v) const {
    double sum = 0;
    for (const double x : v) sum += x;
    return sum;
  }

  std::vector<double> gradient() {
    for (std::size_t i = 0; i < n_; ++i) slope_[i] = loss_.slope(u_[i], y_[i]);
    const double sum = sum_of(slope_);
    const auto n = static_cast<double>(n_);
    std::vector<double> g(size_);
    for (std::size_t j = 0; j < slots_.size(); ++j)
      g[j] = columns_.with_vector(slots_[j], slope_.data(), sum) * root_n_ / n + ridges_[j] * weights_[j];
    if (options_.intercept) g.back() = sum / n;
    return g;
  }

  std::vector<double> hessian() {
    const auto n = static_cast<double>(n_);
    for (std::size_t i = 0; i < n_; ++i) curvature_[i] = loss_.curvature(u_[i], y_[i]);
    std::vector<double> h(size_ * size_);
    for (std::size_t j = 0; j < slots_.size(); ++j) {
      leave_if_stopped();
      std::fill(scaled_.begin(), scaled_.end(), 0.0);
      double offset = 0;
      columns_.add_to(slots_[j], root_n_, scaled_.data(), offset);
      for (std::size_t i = 0; i < n_; ++i) scaled_[i] = (scaled_[i] - offset) * curvature_[i];
      const double sum = sum_of(scaled_);
      for (std::size_t i = 0; i <= j; ++i)
        set_both(h, i, j, columns_.with_vector(slots_[i], scaled_.data(), sum) * root_n_ / n);
      h[j * size_ + j] += ridges_[j];
      if (options_.intercept) set_both(h, j, size_ - 1, sum / n);
    }
    if (options_.intercept) h.back() = sum_of(curvature_) / n;
    return h;
  }

  void set_both(std::vector<double>& h, std::size_t i, std::size_t j, double value) const {
    h[i * size_ + j] = value;
    h[j * size_ + i] = value;
  }

  // One Newton step, halved until the objective falls enough; returns the new objective.
  double descend(double value) {
    const std::vector<double> g = gradient();
    std::vector<double> h = hessian();
    std::vector<double> step = solve_symmetric(h, g);
    double expected = 0;
    for (std::size_t j = 0; j < size_; ++j) expected += g[j] * step[j];
    std::vector<double> trial(size_);
    std::vector<double> trial_u(n_);
    for (double length = 1; length > 1e-6; length *= 0.5) {
      for (std::size_t j = 0; j < size_; ++j) trial[j] = weights_[j] - length * step[j];
      const double reached = objective(trial, trial_u);
      if (reached > value - kSufficient * length * expected) continue;
      weights_ = trial;
      u_ = trial_u;
      return reached;
    }
    return value;
  }

  RefittedModel in_raw_columns() const {
    RefittedModel model;
    model.intercept = options_.intercept ? weights_.back() : 0.0;
    for (std::size_t j = 0; j < slots_.size(); ++j) {
      model.weights.push_back(weights_[j] * root_n_ / columns_.length(slots_[j]));
      model.intercept -= model.weights.back() * columns_.mean(slots_[j]);
    }
    return model;
  }

  const FeatureColumns& columns_;
  std::span<const std::size_t> slots_;
  std::span<const double> y_;
  const ColumnLoss& loss_;
  const RefitOptions& options_;
  std::size_t n_;
  std::size_t size_;
  double root_n_ = 1;
  std::vector<double> ridges_, weights_, u_, slope_, curvature_, scaled_;
};

}  // namespace

RefittedModel refit(const FeatureColumns& columns, std::span<const std::size_t> slots, std::span<const double> targets,
                    const ColumnLoss& loss, const RefitOptions& options) {
  return Refit(columns, slots, targets, loss, options).run();
}

}  // namespace fsstream

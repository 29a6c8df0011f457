#include "solve/reduced_problem.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "core/stop.hpp"
#include "solve/group_products.hpp"
#include "solve/moreau.hpp"

namespace fsstream {

namespace {

constexpr double kRounding = 1e-13;  // slack of the line searches, relative to P

class ProximalSolver {
 public:
  ProximalSolver(const ColumnCache& columns, const EmpiricalLoss& loss, const ProximalOptions& options,
                 ReducedSolution& solution)
      : columns_(columns),
        loss_(loss),
        options_(options),
        s_(solution),
        products_(columns, solution, options.cached_products),
        v_(solution.weights),
        step_(solution.weights.size()),
        gradient_(solution.weights.size()),
        factors_(solution.groups()),
        u_v_(loss.rows()),
        u_step_(loss.rows()),
        r_(loss.rows()) {}

  void run() {
    start();
    for (s_.iterations = 0; s_.iterations < options_.iterations;) {
      leave_if_stopped();
      ++s_.iterations;
      proximal_step();
      if (options_.shift) shift_step();
      const double before = s_.objective;
      const double after = 0.5 * step_norm_ * step_norm_ + loss_step_;
      if (!std::isfinite(after))
        throw Diverged("the inner solver of fgm left the range of numbers\nscale the values and the labels");
      if (options_.restart && after > before) {
        if (momentum_ == 1.0) break;  // not even a plain step goes down: this is the minimum
        forget_momentum();
        continue;
      }
      accept(after);
      if (before - after <= options_.tolerance * before) break;
      extrapolate();
    }
    decision_values(columns_, s_, s_.decision);
    s_.objective = 0.5 * s_.norm * s_.norm + loss_.value(s_.decision);
    s_.tau = options_.eta * tau_;
  }

 private:
  void start() {
    s_.decision.resize(loss_.rows());
    s_.history.clear();
    double total_cost = 0.0;
    for (const double cost : loss_.costs()) total_cost += cost;
    bias_bound_ = loss_.curvature() * total_cost;
    std::vector<double> squares(s_.members.size());
    columns_.square_sums(s_.members, loss_.costs(), squares.data());
    for (const double square : squares) bound_ += square;
    bound_ = std::max(bound_ * loss_.curvature(), 1e-300);
    tau_ = s_.tau > 0.0 ? s_.tau : 0.01 * total_cost;
    v_bias_ = s_.bias;
    products_.at_weights(u_v_);
    s_.norm = 0.0;
    for (std::size_t h = 0; h < s_.groups(); ++h) s_.norm += group_norm(s_.weights, h);
    trial_ = u_v_;
    subtract(trial_, v_bias_);
    s_.objective = 0.5 * s_.norm * s_.norm + loss_.value(trial_);
  }

  double group_norm(const std::vector<double>& w, std::size_t h) const {
    double sum = 0.0;
    for (std::size_t j = s_.starts[h]; j < s_.starts[h + 1]; ++j) sum += w[j] * w[j];
    return std::sqrt(sum);
  }

  static void subtract(std::vector<double>& u, double b) {
    for (double& value : u) value -= b;
  }

  // Step 1 and 2 of Algorithm 4: u_v_ holds X v without the shift on entry.
  void proximal_step() {
    subtract(u_v_, v_bias_);
    const double loss_v = loss_.value(u_v_);
    loss_.residuals(u_v_, r_);
    columns_.dots(s_.members, r_, gradient_.data());
    for (double& slope : gradient_) slope = -slope;
    products_.at_gradient(gradient_);
    if (!options_.restart || first_trial_held_) tau_ = std::min(options_.eta * tau_, bound_);
    first_trial_held_ = true;
    for (;;) {
      project();
      products_.at_step(factors_, tau_, step_, u_step_);
      subtract(u_step_, v_bias_);
      loss_step_ = loss_.value(u_step_);
      const double model = loss_v + linear_and_square_terms();
      if (loss_step_ <= model + kRounding * std::abs(loss_v) || !(tau_ < bound_)) break;
      tau_ = std::min(tau_ / options_.eta, bound_);
      first_trial_held_ = false;
    }
  }

  // step_ = S_tau(v - g / tau)
  void project() {
    for (std::size_t j = 0; j < v_.size(); ++j) step_[j] = v_[j] - gradient_[j] / tau_;
    for (std::size_t h = 0; h < s_.groups(); ++h) factors_[h] = group_norm(step_, h);
    step_norm_ = moreau_factors(factors_, tau_, sorted_);
    for (std::size_t h = 0; h < s_.groups(); ++h)
      for (std::size_t j = s_.starts[h]; j < s_.starts[h + 1]; ++j) step_[j] *= factors_[h];
  }

  double linear_and_square_terms() const {
    double linear = 0.0;
    double square = 0.0;
    for (std::size_t j = 0; j < v_.size(); ++j) {
      const double move = step_[j] - v_[j];
      linear += gradient_[j] * move;
      square += move * move;
    }
    return linear + 0.5 * tau_ * square;
  }

  // Step 3: b, by its own line search; u_step_ holds X w' - v_b and then X w' - b'.
  void shift_step() {
    const double slope = loss_.residuals(u_step_, r_);
    double tau = std::min(options_.eta * tau_, bias_bound_);
    const double before = loss_step_;
    for (;;) {
      const double move = -slope / tau;
      trial_ = u_step_;
      subtract(trial_, move);
      loss_step_ = loss_.value(trial_);
      if (loss_step_ <= before - 0.5 * slope * slope / tau + kRounding * before || !(tau < bias_bound_)) {
        step_bias_ = v_bias_ + move;
        u_step_.swap(trial_);
        return;
      }
      tau = std::min(tau / options_.eta, bias_bound_);
    }
  }

  void accept(double objective) {
    before_ = s_.weights;
    s_.weights = step_;
    bias_before_ = s_.bias;
    s_.bias = options_.shift ? step_bias_ : 0.0;
    s_.norm = step_norm_;
    s_.objective = objective;
    s_.history.push_back(objective);
  }

  // Steps 5 and 6.
  void extrapolate() {
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum_ * momentum_));
    const double beta = (momentum_ - 1.0) / next;
    momentum_ = next;
    for (std::size_t j = 0; j < v_.size(); ++j) v_[j] = s_.weights[j] + beta * (s_.weights[j] - before_[j]);
    v_bias_ = s_.bias + beta * (s_.bias - bias_before_);
    products_.advance(beta, u_v_);
  }

  void forget_momentum() {
    momentum_ = 1.0;
    v_ = s_.weights;
    v_bias_ = s_.bias;
    products_.at_weights(u_v_);
  }

  const ColumnCache& columns_;
  const EmpiricalLoss& loss_;
  const ProximalOptions& options_;
  ReducedSolution& s_;
  GroupProducts products_;
  std::vector<double> v_, step_, gradient_, before_, factors_, sorted_;
  std::vector<double> u_v_, u_step_, r_, trial_;
  double v_bias_ = 0.0, step_bias_ = 0.0, bias_before_ = 0.0;
  double step_norm_ = 0.0, loss_step_ = 0.0;
  double tau_ = 0.0, bound_ = 0.0, bias_bound_ = 0.0, momentum_ = 1.0;
  bool first_trial_held_ = true;
};

}  // namespace

void solve_reduced(const ColumnCache& columns, const EmpiricalLoss& loss, const ProximalOptions& options,
                   ReducedSolution& solution) {
  if (std::ranges::all_of(loss.costs(), [](double cost) { return cost == 0.0; })) {
    std::ranges::fill(solution.weights, 0.0);  // nothing speaks for any other
    solution.objective = solution.norm = 0.0;
    solution.decision.resize(loss.rows());
    decision_values(columns, solution, solution.decision);
    return;
  }
  ProximalSolver(columns, loss, options, solution).run();
}

void decision_values(const ColumnCache& columns, const ReducedSolution& solution, std::span<double> u) {
  std::fill(u.begin(), u.end(), -solution.bias);
  columns.add(solution.members, solution.weights, u);
}

}  // namespace fsstream

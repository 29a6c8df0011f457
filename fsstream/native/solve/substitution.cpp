#include "solve/substitution.hpp"

#include <algorithm>
#include <cmath>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "solve/soft_threshold.hpp"

namespace fsstream {

namespace {

constexpr int kRaises = 30;  // of the curvature within one arrival

}  // namespace

// The changes of the retained weights and what they do to the predictions.
struct Substitution::Step {
  std::vector<double> weights;
  double intercept = 0;
  std::vector<double> u;
  double squares = 0;
};

Substitution::Substitution(const ColumnProblem& problem, const SubstitutionOptions& options)
    : problem_(problem),
      options_(options),
      set_(problem, options.k + 1),
      u_(problem.samples(), problem.first_intercept()),
      slope_(problem.samples()),
      intercept_(problem.first_intercept()),
      counts_(kCounts) {
  progress_.curvature = problem.loss.largest_curvature() + problem.options.ridge;
  progress_.objective = progress_.first_objective = objective(u_, 0);
}

double Substitution::objective(const std::vector<double>& u, double squares) const {
  return problem_.loss.mean(u.data(), problem_.y.data(), u.size()) + 0.5 * problem_.options.ridge * squares;
}

Arrival Substitution::arrive(Feature& feature, FeatureReader& reader) {
  ++counts_[kSeen];
  feature.key = key_of_name(feature.name);
  std::size_t slot = 0;
  Arrival outcome = Arrival::kRejected;
  const bool met = set_.find(feature, scan_, slot, outcome);
  const bool moves_again = outcome == Arrival::kRetained && options_.rule != SubstitutionOptions::Rule::kPaper;
  if (outcome == Arrival::kCollided) ++counts_[kCollisions];
  if (met && !moves_again) return outcome;
  slope_sum_ = problem_.slopes(u_, slope_);
  const double gradient = measured_product(feature, problem_, slope_, slope_sum_);
  if (feature.length == 0) return outcome;
  const float* dense = reader.scattered(feature);
  const Arrival done = options_.rule == SubstitutionOptions::Rule::kPaper
                           ? substitute(feature, dense, gradient)
                           : coordinate_step(feature, dense, gradient, slot, met);
  if (!std::isfinite(progress_.objective))
    throw Diverged("the objective left the range of numbers\nlower --learning-rate, or leave it out");
  return done;
}

Substitution::Step Substitution::retained_step(double eta) const {
  Step step;
  step.u.assign(u_.size(), 0.0);
  double offset = 0;
  const double length = eta / options_.retained_divisor;
  for (std::size_t i = 0; i < set_.size(); ++i) {
    step.weights.push_back(-length * gradients_[i]);
    step.squares += step.weights.back() * step.weights.back();
    set_.move(i, step.weights.back(), step.u.data(), offset);
  }
  if (problem_.options.intercept) step.intercept = -length * slope_sum_;
  step.squares += step.intercept * step.intercept;
  for (double& change : step.u) change += step.intercept - offset;
  return step;
}

// The curvature along a step; false when it was above L_F, which is raised to it.
bool Substitution::curvature_holds(const std::vector<double>& change, double squares) {
  if (squares == 0) return true;
  const double along = dot(change.data(), change.data(), change.size()) / static_cast<double>(change.size()) / squares;
  const double found = problem_.loss.largest_curvature() * along + problem_.options.ridge;
  if (found <= progress_.curvature * (1 + 1e-12)) return true;
  progress_.curvature = found;
  return false;
}

void Substitution::take(const Step& step) {
  for (std::size_t i = 0; i < step.weights.size(); ++i) set_.set_weight(i, set_.weight(i) + step.weights[i]);
  intercept_ += step.intercept;
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += step.u[i];
}

// Who goes when the retained weights have moved and the arrival, the last of the set, has this one: the smallest.
std::size_t Substitution::leaver_after(const Step& retained, double weight) const {
  const std::size_t arrived = set_.size() - 1;
  std::size_t leaver = arrived;
  double least = std::abs(weight);
  for (std::size_t i = 0; i < arrived; ++i) {
    const double size = std::abs(set_.weight(i) + retained.weights[i]);
    if (size < least || (size == least && set_.key(i) > set_.key(leaver))) least = size, leaver = i;
  }
  return leaver;
}

// The step in which the arrival joins with a weight, and in which who leaves for it, if anybody, loses its own.
Substitution::Step Substitution::joining_step(const Step& retained, double weight, std::size_t leaver) const {
  const std::size_t arrived = set_.size() - 1;
  Step next = retained;
  double offset = 0;
  next.weights[arrived] = weight;
  set_.move(arrived, weight, next.u.data(), offset);
  next.squares += weight * weight;
  if (leaver != arrived) {
    const double gone = set_.weight(leaver) + retained.weights[leaver];
    set_.move(leaver, -gone, next.u.data(), offset);
    next.squares += set_.weight(leaver) * set_.weight(leaver) - retained.weights[leaver] * retained.weights[leaver];
    next.weights[leaver] = -set_.weight(leaver);
  }
  for (double& change : next.u) change -= offset;
  return next;
}

double Substitution::objective_after(const Step& step) const {
  std::vector<double> u = u_;
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += step.u[i];
  double squares = set_.weight_squares();
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const double before = set_.weight(i);
    const double after = before + step.weights[i];
    squares += after * after - before * before;
  }
  return objective(u, squares);
}

Arrival Substitution::substitute(Feature& feature, const float* dense, double gradient) {
  gradients_.resize(set_.size());
  for (std::size_t i = 0; i < set_.size(); ++i) gradients_[i] = set_.gradient(i, slope_, slope_sum_);
  const bool room = set_.size() < options_.k;
  set_.add(feature, dense, 0.0, scan_);
  gradients_.push_back(0.0);  // the arrival's own step is apart: it has no divisor
  const std::size_t arrived = set_.size() - 1;
  Step retained;
  Step next;
  std::size_t leaver = arrived;  // nobody else leaves
  bool enters = room;
  double eta = 0;
  for (int raise = 0; raise < kRaises; ++raise) {
    eta = step_length();
    retained = retained_step(eta);
    const double weight = -eta * gradient;
    leaver = room ? arrived : leaver_after(retained, weight);
    enters = room || leaver != arrived;
    next = enters ? joining_step(retained, weight, leaver) : retained;
    const bool holds = curvature_holds(retained.u, retained.squares);
    if (curvature_holds(next.u, next.squares) && holds) break;
  }
  const double allowed = options_.descent * (0.5 * progress_.curvature - 0.5 / eta);
  if (leaver != arrived) {
    enters = objective_after(next) - progress_.objective <= allowed * next.squares;  // (11)
    if (!enters) ++counts_[kRefused];
  }
  const Step& taken = enters ? next : retained;
  take(taken);
  if (!enters) {
    set_.remove(arrived);
  } else if (leaver != arrived) {
    set_.remove(leaver);
  }
  refresh_objective();
  progress_.step_squares += taken.squares;
  progress_.promised -= allowed * taken.squares;
  if (!enters) return Arrival::kRejected;
  ++counts_[kEntered];
  progress_.curvature = set_.follow_curvature(progress_.curvature);
  return Arrival::kEntered;
}

void Substitution::refresh_objective() { progress_.objective = objective(u_, set_.weight_squares()); }

Arrival Substitution::coordinate_step(Feature& feature, const float* dense, double gradient, std::size_t slot,
                                      bool retained) {
  const double along =
      problem_.factor(feature.length) * problem_.factor(feature.length) / static_cast<double>(u_.size());
  const double curvature = problem_.loss.largest_curvature() * along + problem_.options.ridge;
  const double eta = options_.step > 0 ? options_.step : 1.0 / curvature;
  const double before = retained ? set_.weight(slot) : 0.0;
  const bool proximal = options_.rule == SubstitutionOptions::Rule::kProximal;
  const double moved = before - eta * (gradient + problem_.options.ridge * before);
  const bool full = set_.size() == options_.k;
  const double least_kept = full ? std::abs(set_.weight(set_.weakest())) : 0.0;
  const double weight = proximal ? soft_threshold(moved, options_.l1 > 0 ? eta * options_.l1 : least_kept) : moved;
  if (!retained && weight == 0) return Arrival::kRejected;
  if (!retained) {
    set_.add(feature, dense, 0.0, scan_);
    slot = set_.size() - 1;
    ++counts_[kEntered];
  }
  double offset = 0;
  set_.move(slot, weight - before, u_.data(), offset);
  set_.set_weight(slot, weight);
  const double shift = problem_.options.intercept ? -slope_sum_ / problem_.loss.largest_curvature() : 0.0;
  intercept_ += shift;
  for (double& prediction : u_) prediction += shift - offset;
  if (set_.size() > options_.k) {
    const std::size_t leaver = set_.weakest();
    double lost = 0;
    set_.move(leaver, -set_.weight(leaver), u_.data(), lost);
    for (double& prediction : u_) prediction -= lost;
    set_.remove(leaver);
  }
  refresh_objective();
  return retained ? Arrival::kRetained : Arrival::kEntered;
}

}  // namespace fsstream

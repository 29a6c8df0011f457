#include "solve/proj_gd.hpp"

#include <cmath>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

constexpr double kStill = 1e-6;  // squared movement, as a share of the weights, that ends the scans
constexpr double kAbove = 1.01;  // what a curvature found is raised by

}  // namespace

ProjectedGradient::ProjectedGradient(const ColumnProblem& problem, std::size_t k, double step)
    : problem_(problem),
      k_(k),
      step_(step),
      curvature_(problem.loss.largest_curvature() + problem.options.ridge),
      intercept_(problem.first_intercept()),
      now_(std::make_unique<SubstitutionSet>(problem, k + 1)),
      next_(std::make_unique<SubstitutionSet>(problem, k + 1)),
      u_(problem.samples(), intercept_),
      slope_(problem.samples()) {
  objective_ = problem.loss.mean(u_.data(), problem.y.data(), u_.size());
  start_scan();
}

void ProjectedGradient::start_scan() {
  slope_sum_ = problem_.slopes(u_, slope_);
  next_->clear();
}

Arrival ProjectedGradient::arrive(Feature& feature, FeatureReader& reader) {
  feature.key = key_of_name(feature.name);
  Arrival outcome = Arrival::kRejected;
  std::size_t slot = 0;
  if (next_->find(feature, scan_, slot, outcome)) return outcome;
  const double gradient = measured_product(feature, problem_, slope_, slope_sum_);
  if (feature.length == 0) return outcome;
  const double before = now_->find(feature, scan_, slot, outcome) ? now_->weight(slot) : 0.0;
  const double weight = before - step_length() * (gradient + problem_.options.ridge * before);
  if (weight == 0 || (next_->size() == k_ && std::abs(weight) < std::abs(next_->weight(next_->weakest()))))
    return Arrival::kRejected;
  next_->add(feature, reader.scattered(feature), weight, scan_);
  if (next_->size() > k_) next_->remove(next_->weakest());
  return Arrival::kEntered;
}

// Between the weights of this iterate and the next, over both supports.
double ProjectedGradient::squared_distance() const {
  double shared = 0;
  for (std::size_t i = 0; i < next_->size(); ++i) {
    const std::size_t slot = now_->slot_of(next_->key(i));
    if (slot < now_->size()) shared += next_->weight(i) * now_->weight(slot);
  }
  return next_->weight_squares() + now_->weight_squares() - 2 * shared;
}

bool ProjectedGradient::end_scan() {
  ++scan_;
  const double shift = problem_.options.intercept ? -step_length() * slope_sum_ : 0.0;
  std::vector<double> u(u_.size(), intercept_ + shift);
  double offset = 0;
  bool same_support = next_->size() == now_->size();
  for (std::size_t i = 0; i < next_->size(); ++i) {
    next_->move(i, next_->weight(i), u.data(), offset);
    same_support = same_support && now_->slot_of(next_->key(i)) < now_->size();
  }
  double moved = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] -= offset;
    moved += (u[i] - u_[i]) * (u[i] - u_[i]);
  }
  if (!std::isfinite(moved))
    throw Diverged("the predictions left the range of numbers\nlower --learning-rate, or leave it out");
  const double squares = squared_distance() + shift * shift;
  const double along = squares > 0 ? moved / static_cast<double>(u.size()) / squares : 0.0;
  const double found = problem_.loss.largest_curvature() * along + problem_.options.ridge;
  if (step_ == 0 && found > curvature_ * (1 + 1e-12)) {
    curvature_ = kAbove * found;
    start_scan();
    return true;
  }
  const bool still = same_support && squares <= kStill * next_->weight_squares();
  u_.swap(u);
  now_.swap(next_);
  intercept_ += shift;
  objective_ = problem_.loss.mean(u_.data(), problem_.y.data(), u_.size()) +
               0.5 * problem_.options.ridge * now_->weight_squares();
  start_scan();
  return !still;
}

}  // namespace fsstream

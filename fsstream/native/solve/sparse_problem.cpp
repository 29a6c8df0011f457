#include "solve/sparse_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/dot.hpp"
#include "core/lanes.hpp"
#include "core/stop.hpp"
#include "solve/float_columns.hpp"
#include "solve/ridge_system.hpp"

namespace fsstream {

namespace {

constexpr double kHinge = 2.0;           // max(0, 1 - y u)^2, as the paper has it
constexpr double kActiveShare = 0.9;     // of l1: columns with a smaller gradient do not move
constexpr double kSteepest = 6.0;        // times l1: from w = 0 the first steps are taken with a larger l1
constexpr std::size_t kNewShare = 3;     // new columns that may move: a third of those with a weight,
constexpr std::size_t kFewestNew = 256;  // or so many
constexpr std::size_t kRowsAColumn = 4;  // of the second-order model, to begin with
constexpr double kArmijo = 0.01;
constexpr int kMostHalvings = 30;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGoodProgress = 0.7;      // of the gap, in one step; else the model is made anew
constexpr std::size_t kLackingShare = 20;  // a model lacks at most a twentieth of the columns that move

}  // namespace

// A step of all weights and b, and what it moves the decision by.
struct SparseProblem::Step {
  std::vector<double> weights;
  double bias = 0;
  std::vector<double> decision;
};

SparseProblem::SparseProblem(std::string_view loss, std::span<const float> targets, std::span<const float> importance,
                             bool intercept, std::size_t threads)
    : loss_(loss, kHinge), fits_intercept_(intercept), threads_(std::max<std::size_t>(threads, 1)) {
  retarget(targets, importance);
}

void SparseProblem::retarget(std::span<const float> targets, std::span<const float> importance) {
  if (targets.size() != importance.size()) throw std::invalid_argument("one importance a row");
  model_.forget();
  if (!columns_.empty() && targets.size() != rows()) throw std::invalid_argument("the columns have other rows");
  targets_.assign(targets.begin(), targets.end());
  costs_.assign(importance.begin(), importance.end());
  const double total = std::accumulate(costs_.begin(), costs_.end(), 0.0);
  for (double& cost : costs_) cost /= total;
  std::fill(weights_.begin(), weights_.end(), 0.0);
  bias_ = 0;
  decision_.assign(rows(), 0.0);
  fit_intercept();
  level_ = loss_at(decision_);
}

std::size_t SparseProblem::bytes_for(std::size_t rows, std::size_t columns) {
  // targets, costs, decision, slopes, curvatures, a dual point, a step and its trial; the model's rows, at most
  constexpr std::size_t kVectors = 8 * sizeof(double) + CurvedRows::kRowBytes;
  return rows * (kVectors + columns * sizeof(float)) + 64 * columns + Gram::bytes_for(columns);
}

double SparseProblem::loss_at(std::span<const double> u) const {
  return sum_in_lanes(rows(), [&](std::size_t i) { return costs_[i] * loss_.value(u[i], targets_[i]); });
}

double SparseProblem::penalty(std::span<const double> w, const SolveOptions& options) const {
  return sum_in_lanes(w.size(),
                      [&](std::size_t j) { return options.l1 * std::abs(w[j]) + 0.5 * options.l2 * w[j] * w[j]; });
}

std::vector<float*> SparseProblem::open(std::size_t count) {
  model_.forget();
  std::vector<float*> opened;
  for (std::size_t i = 0; i < count; ++i) {
    Buffer<float> column;
    if (!spare_.empty()) {
      column = std::move(spare_.back());
      spare_.pop_back();
    }
    column.reserve(std::max<std::size_t>(rows(), 1));
    column.set_size(rows());
    opened.push_back(column.data());
    columns_.push_back(std::move(column));
  }
  weights_.resize(columns_.size(), 0.0);
  return opened;
}

void SparseProblem::start_from(std::span<const double> weights, double intercept) {
  if (weights.size() != columns()) throw std::invalid_argument("one weight a column");
  weights_.assign(weights.begin(), weights.end());
  bias_ = intercept;
  model_.forget();
  decision_.resize(rows());
  combine_columns(column_data(), weights_, bias_, decision_, threads_);
}

std::vector<const float*> SparseProblem::column_data() const {
  std::vector<const float*> all;
  for (const Buffer<float>& column : columns_) all.push_back(column.data());
  return all;
}

// Phi' v
std::vector<double> SparseProblem::products_with(std::span<const double> v) const {
  std::vector<double> found(columns());
  dots(column_data(), v.data(), rows(), found.data(), threads_);
  return found;
}

void SparseProblem::keep(std::span<const std::uint32_t> columns) {
  model_.forget();
  std::vector<Buffer<float>> kept;
  std::vector<double> weights;
  std::vector<bool> stays(columns_.size());
  for (const std::uint32_t column : columns) {
    if (column >= columns_.size() || stays[column]) throw std::invalid_argument("no such column to keep");
    stays[column] = true;
  }
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (stays[j]) continue;
    if (weights_[j] != 0.0) add_scaled(-weights_[j], columns_[j].data(), decision_.data(), rows());
    spare_.push_back(std::move(columns_[j]));
  }
  for (const std::uint32_t column : columns) {
    kept.push_back(std::move(columns_[column]));
    weights.push_back(weights_[column]);
  }
  columns_ = std::move(kept);
  weights_ = std::move(weights);
}

void SparseProblem::take_slopes() {
  slopes_.resize(rows());
  curvatures_.resize(rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    slopes_[i] = costs_[i] * loss_.slope(decision_[i], targets_[i]);
    curvatures_[i] = costs_[i] * loss_.curvature(decision_[i], targets_[i]);
  }
}

// Newton's method in one number; halved while the loss would rise.
void SparseProblem::fit_intercept() {
  if (!fits_intercept_) return;
  std::vector<double> trial(rows());
  for (int iteration = 0; iteration < 20; ++iteration) {
    const double first =
        sum_in_lanes(rows(), [&](std::size_t i) { return costs_[i] * loss_.slope(decision_[i], targets_[i]); });
    const double second =
        sum_in_lanes(rows(), [&](std::size_t i) { return costs_[i] * loss_.curvature(decision_[i], targets_[i]); });
    double step = -first / std::max(second, 1e-8);
    if (std::abs(first) < 1e-12 || std::abs(step) < 1e-14) return;
    const double before = loss();
    int halvings = 0;
    for (; halvings < kMostHalvings; ++halvings, step *= 0.5) {
      for (std::size_t i = 0; i < rows(); ++i) trial[i] = decision_[i] + step;
      if (loss_at(trial) < before) break;
    }
    if (halvings == kMostHalvings) return;
    decision_.swap(trial);
    bias_ += step;
  }
}

std::vector<double> SparseProblem::slopes() const {
  std::vector<double> found(rows());
  for (std::size_t i = 0; i < rows(); ++i) found[i] = costs_[i] * loss_.slope(decision_[i], targets_[i]);
  return found;
}

std::vector<double> SparseProblem::curvatures() const {
  std::vector<double> found(rows());
  for (std::size_t i = 0; i < rows(); ++i) found[i] = costs_[i] * loss_.curvature(decision_[i], targets_[i]);
  return found;
}

std::vector<double> SparseProblem::gradients() {
  take_slopes();
  return products_with(slopes_);
}

// Slopes that b leaves not quite at rest are no dual point: they must sum to zero, within the
// loss's range. Squared: the mean is taken off; else the class that pulls harder is scaled down.
void SparseProblem::make_feasible(std::vector<double>& dual) const {
  if (!fits_intercept_) return;
  if (loss_.quadratic()) {
    const double sum = sum_in_lanes(rows(), [&](std::size_t i) { return dual[i]; });
    for (std::size_t i = 0; i < rows(); ++i) dual[i] -= sum * costs_[i];
    return;
  }
  const double up = sum_in_lanes(rows(), [&](std::size_t i) { return std::max(dual[i], 0.0); });
  const double down = sum_in_lanes(rows(), [&](std::size_t i) { return std::max(-dual[i], 0.0); });
  const double share_up = up > down ? down / up : 1.0;
  const double share_down = down > up ? up / down : 1.0;
  for (std::size_t i = 0; i < rows(); ++i) dual[i] *= dual[i] > 0.0 ? share_up : share_down;
}

double SparseProblem::dual_value(const std::vector<double>& dual, const SolveOptions& options, double share) const {
  const double losses = sum_in_lanes(rows(), [&](std::size_t i) {
    return costs_[i] > 0.0 ? costs_[i] * loss_.conjugate(share * dual[i] / costs_[i], targets_[i]) : 0.0;
  });
  if (options.l2 == 0.0) return losses;
  return losses - sum_in_lanes(columns(), [&](std::size_t j) {
           const double beyond = std::max(std::abs(gradients_[j]) - options.l1, 0.0);
           return 0.5 * beyond * beyond / options.l2;
         });
}

// Leaves the slopes, the curvatures and every column's product with the dual point.
double SparseProblem::find_gap(double objective, const SolveOptions& options) {
  take_slopes();
  std::vector<double> dual = slopes_;
  make_feasible(dual);
  gradients_ = products_with(dual);
  const double largest = steepest();
  const double share = options.l2 > 0.0 || largest <= options.l1 ? 1.0 : options.l1 / largest;
  return objective - dual_value(dual, options, share);
}

double SparseProblem::steepest() const {
  double largest = 0;
  for (const double gradient : gradients_) largest = std::max(largest, std::abs(gradient));
  return largest;
}

// The columns with a weight, and some of those that would get one, the steepest first: fewer products,
// and the optimum has not many more columns than are there already.
std::vector<std::uint32_t> SparseProblem::columns_that_move(double l1) const {
  std::vector<std::uint32_t> moving, steep;
  for (std::uint32_t j = 0; j < columns(); ++j) {
    if (weights_[j] != 0.0)
      moving.push_back(j);
    else if (std::abs(gradients_[j]) > kActiveShare * l1)
      steep.push_back(j);
  }
  const std::size_t room = std::max(kFewestNew, moving.size() / kNewShare);
  if (steep.size() > room) {
    std::stable_sort(steep.begin(), steep.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::abs(gradients_[a]) > std::abs(gradients_[b]);
    });
    steep.resize(room);
  }
  moving.insert(moving.end(), steep.begin(), steep.end());
  std::sort(moving.begin(), moving.end());
  return moving;
}

// The numbers and places of the columns of a new model: when they are most of those at hand, all.
void SparseProblem::build_model(std::vector<std::uint32_t> moving) {
  if (5 * moving.size() > 4 * columns()) {
    moving.resize(columns());
    std::iota(moving.begin(), moving.end(), 0U);
  }
  std::vector<const float*> columns;
  for (const std::uint32_t j : moving) columns.push_back(columns_[j].data());
  model_.build(moving, columns, curvatures_, rows_a_column_, fits_intercept_, threads_);
}

// The minimum of the second-order model over the columns that may move; a model at hand will do while it
// lacks few of them.
void SparseProblem::take_newton_step(const SolveOptions& options, Step& step) {
  std::vector<std::uint32_t> moving = columns_that_move(options.l1);
  const auto known = model_.members();
  const auto lacking = std::ranges::count_if(
      moving, [&](std::uint32_t j) { return !std::binary_search(known.begin(), known.end(), j); });
  if (known.empty() || static_cast<std::size_t>(lacking) * kLackingShare > known.size())
    build_model(std::move(moving));
  else
    model_.use_again(curvatures_);
  const auto members = model_.members();
  std::vector<double> gradients, weights;
  for (const std::uint32_t j : members) {
    gradients.push_back(gradients_[j]);
    weights.push_back(weights_[j]);
  }
  const std::vector<double> steps = model_.minimise(gradients, weights, options.l1, options.l2);
  for (std::size_t place = 0; place < members.size(); ++place) step.weights[members[place]] = steps[place];
  if (fits_intercept_)
    step.bias = model_.bias_step(steps, sum_in_lanes(rows(), [&](std::size_t i) { return slopes_[i]; }));
}

// Takes the step, or as much of it as makes F fall; returns the share, 0 when none does.
double SparseProblem::search_line(const SolveOptions& options, Step& step) {
  const double objective = loss() + penalty(weights_, options);
  const double slope_along = sum_in_lanes(rows(), [&](std::size_t i) { return slopes_[i] * step.decision[i]; });
  std::vector<double> w(columns()), u(rows());
  for (std::size_t j = 0; j < columns(); ++j) w[j] = weights_[j] + step.weights[j];
  const double promised = slope_along + penalty(w, options) - penalty(weights_, options);
  if (!(promised < 0.0)) return 0.0;
  double length = 1.0;
  for (int halvings = 0; halvings < kMostHalvings; ++halvings, length *= 0.5) {
    for (std::size_t j = 0; j < columns(); ++j) w[j] = weights_[j] + length * step.weights[j];
    for (std::size_t i = 0; i < rows(); ++i) u[i] = decision_[i] + length * step.decision[i];
    if (loss_at(u) + penalty(w, options) > objective + kArmijo * length * promised) continue;
    weights_.swap(w);
    decision_.swap(u);
    bias_ += length * step.bias;
    return length;
  }
  return 0.0;
}

SolveReport SparseProblem::solve(const SolveOptions& options) {
  SolveReport report;
  const double wanted = options.tolerance * level_;
  rows_a_column_ = kRowsAColumn;
  SolveOptions now = options;
  RidgeModel inverse;
  const bool cold = std::ranges::all_of(weights_, [](double w) { return w == 0.0; });
  if (cold && options.l1 > 0.0) now.l1 = kInfinity;
  double last_gap = kInfinity;
  while (true) {
    leave_if_stopped();
    fit_intercept();
    report.loss = loss();
    report.objective = report.loss + penalty(weights_, options);
    const bool last = report.steps >= options.steps;
    report.gap = last && !options.bound ? kInfinity : find_gap(report.objective, options);
    if (report.gap <= wanted || last) break;
    if (report.gap > kGoodProgress * last_gap) model_.forget();
    last_gap = report.gap;
    Step step{std::vector<double>(columns()), 0.0, {}};
    if (options.l1 > 0.0) {
      if (now.l1 > options.l1) now.l1 = std::max(options.l1, std::min(now.l1 / 2, steepest() / kSteepest));
      take_newton_step(now, step);
      ++report.steps;
    } else {
      std::vector<double> residual(columns());
      for (std::size_t j = 0; j < columns(); ++j) residual[j] = -(gradients_[j] + options.l2 * weights_[j]);
      const RidgeSystem system{column_data(), curvatures_, options.l2, fits_intercept_, threads_};
      report.steps += system.solve(residual, inverse, step.weights, step.bias);
    }
    step.decision.resize(rows());
    combine_columns(column_data(), step.weights, step.bias, step.decision, threads_);
    const double length = search_line(now, step);
    const bool sampled = options.l1 > 0.0 && model_.sampled();
    if (length < 1.0) {
      if (length == 0.0 && !sampled && (options.l1 == 0.0 || !model_.reused())) break;
      if (sampled) rows_a_column_ *= 2;
      model_.forget();
    }
  }
  return report;
}

}  // namespace fsstream

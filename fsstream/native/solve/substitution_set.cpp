#include "solve/substitution_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/dot.hpp"

namespace fsstream {

double ColumnProblem::factor(double length) const {
  return options.unit_scale ? std::sqrt(static_cast<double>(samples())) : length;
}

double ColumnProblem::slopes(const std::vector<double>& u, std::vector<double>& slope) const {
  const auto n = static_cast<double>(samples());
  double sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    slope[i] = loss.slope(u[i], y[i]) / n;
    sum += slope[i];
  }
  return sum;
}

double ColumnProblem::first_intercept() const {
  if (!options.intercept || !loss.quadratic() || y.empty()) return 0;
  return std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
}

double measured_product(Feature& feature, const ColumnProblem& problem, const std::vector<double>& vector, double sum) {
  const double product = measure(feature, problem.samples(), problem.options.intercept, vector.data());
  if (feature.length == 0) return 0;
  return (product - feature.mean * sum) / feature.length * problem.factor(feature.length);
}

SubstitutionSet::SubstitutionSet(const ColumnProblem& problem, std::size_t slots)
    : problem_(problem), columns_(problem.samples(), slots, problem.options.intercept), image_(problem.samples()) {}

void SubstitutionSet::add(const Feature& feature, const float* dense, double weight, std::uint64_t scan) {
  const std::size_t slot = free_slot();
  columns_.keep(slot, feature, dense);
  members_.put(slot, feature, scan);
  weights_.push_back(weight);
  direction_.push_back(1.0);
}

void SubstitutionSet::adopt(const SubstitutionSet& from, std::size_t i) {
  columns_.copy(free_slot(), from.columns_, i);
  members_.adopt(from.members_, i);
  weights_.push_back(from.weights_[i]);
  direction_.push_back(1.0);
}

std::size_t SubstitutionSet::free_slot() {
  const std::size_t slot = size();
  if (slot == columns_.slots()) columns_.grow(slot + slot / 2 + 1);
  return slot;
}

void SubstitutionSet::remove(std::size_t i) {
  const std::size_t last = size() - 1;
  if (i != last) {
    columns_.exchange(i, last);
    weights_[i] = weights_[last];
    direction_[i] = direction_[last];
  }
  members_.remove(i);
  weights_.pop_back();
  direction_.pop_back();
}

void SubstitutionSet::clear() {
  members_.clear();
  weights_.clear();
  direction_.clear();
}

std::size_t SubstitutionSet::weakest() const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < size(); ++i) {
    const double size = std::abs(weights_[i]);
    const double least = std::abs(weights_[found]);
    if (size < least || (size == least && key(i) > key(found))) found = i;
  }
  return found;
}

double SubstitutionSet::gradient(std::size_t i, const std::vector<double>& slope, double sum) const {
  return columns_.with_vector(i, slope.data(), sum) * factor(i) + problem_.options.ridge * weights_[i];
}

void SubstitutionSet::move(std::size_t i, double step, double* u, double& offset) const {
  columns_.add_to(i, step * factor(i), u, offset);
}

double SubstitutionSet::weight_squares() const {
  double sum = 0;
  for (const double weight : weights_) sum += weight * weight;
  return sum;
}

double SubstitutionSet::follow_curvature(double last) {
  constexpr double kAbove = 1.05;   // what the estimate is raised by
  constexpr double kForget = 0.99;  // how slowly a raised estimate falls, an arrival
  const double estimate = kAbove * problem_.loss.largest_curvature() * largest_eigenvalue() + problem_.options.ridge;
  return std::max(estimate, kForget * last);
}

double SubstitutionSet::largest_eigenvalue() {
  double squares = 0;
  for (const double d : direction_) squares += d * d;
  if (squares == 0) return 0;
  std::fill(image_.begin(), image_.end(), 0.0);
  double offset = 0;
  for (std::size_t i = 0; i < size(); ++i) move(i, direction_[i] / std::sqrt(squares), image_.data(), offset);
  double sum = 0;
  for (double& value : image_) {
    value -= offset;
    sum += value;
  }
  const auto n = static_cast<double>(problem_.samples());
  double grown = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    direction_[i] = columns_.with_vector(i, image_.data(), sum) * factor(i) / n;
    grown += direction_[i] * direction_[i];
  }
  return std::sqrt(grown);
}

RefittedModel SubstitutionSet::current(std::span<const std::size_t> slots, double intercept) const {
  RefittedModel model;
  model.intercept = intercept;
  for (const std::size_t i : slots) {
    model.weights.push_back(weights_[i] * factor(i) / columns_.length(i));
    model.intercept -= model.weights.back() * columns_.mean(i);
  }
  return model;
}

std::vector<std::size_t> SubstitutionSet::heaviest(std::size_t most) const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double left = std::abs(weights_[a]);
    const double right = std::abs(weights_[b]);
    return left != right ? left > right : key(a) < key(b);
  });
  order.resize(std::min(most, order.size()));
  return order;
}

}  // namespace fsstream

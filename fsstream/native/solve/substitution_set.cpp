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
  ColumnMoments sums{};
  if (feature.dense) {
    sums = column_moments(feature.values, vector.data(), problem.samples());
  } else {
    sums.with_residual = gathered_dot(feature.values, feature.samples, feature.count, vector.data());
    for (std::size_t i = 0; i < feature.count; ++i) {
      const double value = feature.values[i];
      sums.sum += value;
      sums.squares += value * value;
    }
  }
  measure(feature, problem.samples(), problem.options.intercept, sums.sum, sums.squares);
  if (feature.length == 0) return 0;
  return (sums.with_residual - feature.mean * sum) / feature.length * problem.factor(feature.length);
}

SubstitutionSet::SubstitutionSet(const ColumnProblem& problem, std::size_t slots)
    : problem_(problem), columns_(problem.samples(), slots, problem.options.intercept), image_(problem.samples()) {}

bool SubstitutionSet::find(const Feature& feature, std::uint64_t scan, std::size_t& slot, Arrival& outcome) {
  const auto found = slots_.find(feature.key);
  if (found == slots_.end()) return false;
  slot = found->second;
  if (names_[slot] != feature.name) {
    outcome = Arrival::kCollided;
  } else {
    outcome = seen_in_[slot] == scan ? Arrival::kRepeated : Arrival::kRetained;
    seen_in_[slot] = scan;
  }
  return true;
}

void SubstitutionSet::add(const Feature& feature, const float* dense, double weight, std::uint64_t scan) {
  const std::size_t slot = keys_.size();
  if (slot == columns_.slots()) columns_.grow(slot + slot / 2 + 1);
  columns_.keep(slot, feature, dense);
  keys_.push_back(feature.key);
  names_.emplace_back(feature.name);
  seen_in_.push_back(scan);
  weights_.push_back(weight);
  direction_.push_back(1.0);
  slots_[feature.key] = slot;
}

void SubstitutionSet::adopt(const SubstitutionSet& from, std::size_t i) {
  const std::size_t slot = keys_.size();
  if (slot == columns_.slots()) columns_.grow(slot + slot / 2 + 1);
  columns_.copy(slot, from.columns_, i);
  keys_.push_back(from.keys_[i]);
  names_.push_back(from.names_[i]);
  seen_in_.push_back(from.seen_in_[i]);
  weights_.push_back(from.weights_[i]);
  direction_.push_back(1.0);
  slots_[keys_.back()] = slot;
}

void SubstitutionSet::remove(std::size_t i) {
  const std::size_t last = keys_.size() - 1;
  slots_.erase(keys_[i]);
  if (i != last) {
    columns_.exchange(i, last);
    keys_[i] = keys_[last];
    names_[i].swap(names_[last]);
    seen_in_[i] = seen_in_[last];
    weights_[i] = weights_[last];
    direction_[i] = direction_[last];
    slots_[keys_[i]] = i;
  }
  keys_.pop_back();
  names_.pop_back();
  seen_in_.pop_back();
  weights_.pop_back();
  direction_.pop_back();
}

void SubstitutionSet::clear() {
  keys_.clear();
  names_.clear();
  seen_in_.clear();
  weights_.clear();
  direction_.clear();
  slots_.clear();
}

std::size_t SubstitutionSet::slot_of(Key key) const {
  const auto found = slots_.find(key);
  return found == slots_.end() ? size() : found->second;
}

std::size_t SubstitutionSet::weakest() const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < keys_.size(); ++i) {
    const double size = std::abs(weights_[i]);
    const double least = std::abs(weights_[found]);
    if (size < least || (size == least && keys_[i] > keys_[found])) found = i;
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

double SubstitutionSet::curvature_estimate() {
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
    return left != right ? left > right : keys_[a] < keys_[b];
  });
  order.resize(std::min(most, order.size()));
  return order;
}

void SubstitutionSet::index_slots() {
  slots_.clear();
  for (std::size_t slot = 0; slot < keys_.size(); ++slot) slots_[keys_[slot]] = slot;
}

}  // namespace fsstream

// The set S of the paper: features retained with their columns and weights.
//
// Coordinates are those of columns centred and of mean square 1 (or raw, unit_scale = false),
// so that weights of different features can be compared. f(w) = 1/n sum l(u_i, y_i) +
// ridge/2 |w|^2 with u = b + sum_k w_k x_k. Shared by every solver that takes gradient steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "solve/column_loss.hpp"
#include "solve/column_members.hpp"
#include "solve/column_refit.hpp"
#include "solve/feature_columns.hpp"

namespace fsstream {

// What is minimised, and in which coordinates.
struct ColumnProblem {
  ColumnProblem(std::span<const float> targets, std::string_view loss_name, const RefitOptions& how)
      : y(targets.begin(), targets.end()), loss(loss_name), options(how) {}

  std::size_t samples() const { return y.size(); }
  // What a column of length one is multiplied by.
  double factor(double length) const;
  // Slope of the mean loss in every prediction; returns their sum.
  double slopes(const std::vector<double>& u, std::vector<double>& slope) const;
  double first_intercept() const;

  std::vector<double> y;
  ColumnLoss loss;
  RefitOptions options;
};

class SubstitutionSet {
 public:
  SubstitutionSet(const ColumnProblem& problem, std::size_t slots);

  std::size_t size() const { return members_.size(); }
  std::size_t bytes() const { return columns_.bytes(); }
  double weight(std::size_t i) const { return weights_[i]; }
  void set_weight(std::size_t i, double weight) { weights_[i] = weight; }
  std::span<const double> weights() const { return weights_; }
  Key key(std::size_t i) const { return members_.key(i); }
  const std::vector<std::string>& names() const { return members_.names(); }
  const std::string& name(std::size_t i) const { return members_.name(i); }
  const FeatureColumns& columns() const { return columns_; }

  // As ColumnMembers::find.
  bool find(const Feature& feature, std::uint64_t scan, std::size_t& slot, Arrival& outcome) {
    return members_.find(feature, scan, slot, outcome);
  }
  void add(const Feature& feature, const float* dense, double weight, std::uint64_t scan);
  // A member of another set, with its weight.
  void adopt(const SubstitutionSet& from, std::size_t i);
  void remove(std::size_t i);
  void clear();
  void grow(std::size_t slots) { columns_.grow(slots); }
  std::size_t slot_of(Key key) const { return members_.slot_of(key); }
  // The member with the smallest |weight|; among equals the larger key.
  std::size_t weakest() const;

  double gradient(std::size_t i, const std::vector<double>& slope, double sum) const;
  void move(std::size_t i, double step, double* u, double& offset) const;
  double weight_squares() const;

  // The curvature to go on with after an arrival entered: estimated from X_S, raised, and never much below the last.
  double follow_curvature(double last);

  // Weights of the raw columns and what they add to the intercept, as they are.
  RefittedModel current(std::span<const std::size_t> slots, double intercept) const;
  // Slots by falling |weight|, among equals the smaller key first.
  std::vector<std::size_t> heaviest(std::size_t most) const;

  template <class State>
  bool visit_state(State& state);

 private:
  double factor(std::size_t i) const { return problem_.factor(columns_.length(i)); }
  // Behind the last.
  std::size_t free_slot();
  // One step of power iteration on X_S'X_S / n; returns the estimate of its largest eigenvalue.
  double largest_eigenvalue();

  const ColumnProblem& problem_;
  ColumnMembers members_;
  FeatureColumns columns_;
  std::vector<double> weights_;
  std::vector<double> direction_;  // of the power iteration
  std::vector<double> image_;
};

// Sums over an arriving column: its mean and length, and its product with a vector.
double measured_product(Feature& feature, const ColumnProblem& problem, const std::vector<double>& vector, double sum);

template <class State>
bool SubstitutionSet::visit_state(State& state) {
  state.list("weights", weights_);
  state.list("direction", direction_);
  return members_.visit_state(state) && size() <= columns_.slots() && weights_.size() == size() &&
         direction_.size() == size() && columns_.visit_state(state);
}

}  // namespace fsstream

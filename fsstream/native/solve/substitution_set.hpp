// The set S of the paper: features retained with their columns and weights.
//
// Coordinates are those of columns centred and of mean square 1 (or raw, unit_scale = false),
// so that weights of different features can be compared. f(w) = 1/n sum l(u_i, y_i) +
// ridge/2 |w|^2 with u = b + sum_k w_k x_k. Shared by every solver that takes gradient steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "solve/column_loss.hpp"
#include "solve/column_refit.hpp"
#include "solve/feature_columns.hpp"

namespace fsstream {

enum class Arrival : std::uint8_t { kEntered, kRejected, kRetained, kRepeated, kCollided };

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

  std::size_t size() const { return keys_.size(); }
  std::size_t bytes() const { return columns_.bytes(); }
  double weight(std::size_t i) const { return weights_[i]; }
  void set_weight(std::size_t i, double weight) { weights_[i] = weight; }
  std::span<const double> weights() const { return weights_; }
  Key key(std::size_t i) const { return keys_[i]; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(std::size_t i) const { return names_[i]; }
  const FeatureColumns& columns() const { return columns_; }

  // Is the feature retained? Then where, and whether it was met before in this scan.
  bool find(const Feature& feature, std::uint64_t scan, std::size_t& slot, Arrival& outcome);
  void add(const Feature& feature, const float* dense, double weight, std::uint64_t scan);
  // A member of another set, with its weight.
  void adopt(const SubstitutionSet& from, std::size_t i);
  void remove(std::size_t i);
  void clear();
  void grow(std::size_t slots) { columns_.grow(slots); }
  // Where the key is retained; size() when it is not.
  std::size_t slot_of(Key key) const;
  // The member with the smallest |weight|; among equals the larger key.
  std::size_t weakest() const;

  double gradient(std::size_t i, const std::vector<double>& slope, double sum) const;
  void move(std::size_t i, double step, double* u, double& offset) const;
  double weight_squares() const;

  // One step of power iteration on X_S'X_S / n; returns the estimate of its largest eigenvalue.
  double curvature_estimate();

  // Weights of the raw columns and what they add to the intercept, as they are.
  RefittedModel current(std::span<const std::size_t> slots, double intercept) const;
  // Slots by falling |weight|, among equals the smaller key first.
  std::vector<std::size_t> heaviest(std::size_t most) const;

  template <class State>
  bool visit_state(State& state);

 private:
  double factor(std::size_t i) const { return problem_.factor(columns_.length(i)); }
  void index_slots();

  const ColumnProblem& problem_;
  FeatureColumns columns_;
  std::vector<double> weights_;
  std::vector<double> direction_;  // of the power iteration
  std::vector<Key> keys_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> seen_in_;
  std::unordered_map<Key, std::size_t> slots_;
  std::vector<double> image_;
};

// Sums over an arriving column: its mean and length, and its product with a vector.
double measured_product(Feature& feature, const ColumnProblem& problem, const std::vector<double>& vector, double sum);

template <class State>
bool SubstitutionSet::visit_state(State& state) {
  state.list("weights", weights_);
  state.list("direction", direction_);
  state.list("keys", keys_);
  state.list("seen_in", seen_in_);
  state.texts("names", names_);
  const std::size_t size = keys_.size();
  if (size > columns_.slots() || weights_.size() != size || direction_.size() != size || seen_in_.size() != size ||
      names_.size() != size || !columns_.visit_state(state))
    return false;
  index_slots();
  return true;
}

}  // namespace fsstream

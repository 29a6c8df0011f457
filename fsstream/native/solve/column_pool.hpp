// The pool rule of `os`: least squares instead of gradient steps. Ours, not the paper's.
//
// Objective   min |y - X w|^2  with at most s non-zero weights, features seen one by one.
// Kept        a pool P of at most K columns, a model M inside P with |M| <= s that holds the
//             least-squares weights, and the model's residual r.
// Score       of a member: how much |r|^2 would rise without it (in M) or fall with it.
// Arrival x   gain = (x.r)^2 / (what M leaves unexplained of x). While the pool has room x
//             enters, unless it is a copy of a member or explained by M; the first s enter even
//             then, so that s come out. Afterwards it replaces the member with the smallest score, if it gains
//             more. Then M = the members that are significant, score > 9 |r|^2 / (n - |M|),
//             at most s of them, and the fit again, until M stays (four times at most). Last,
//             a member outside M takes the place of one inside while that lowers |r|^2 by more
//             than 4 |r|^2 / (n - |M|): so a correlated neighbour that stood in for a feature
//             gives way to it.
// Rejection   costs O(n): (x.r)^2 <= gain, so an arrival far below the smallest score cannot
//             enter unless M explains most of it. How far is "far" follows the pool itself:
//             the least share that M leaves of its own members says how little of an arrival M
//             can be expected to leave, as one in K arrivals like them would have less.
// Result      the s best scores at the end, refitted.
//
// No step, no Lipschitz constant, nothing to set. Invariant to the scale of the features.
// Where two classes are to be told apart the pool works on targets -1 / +1 and the refit
// minimises the loss asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solve/column_members.hpp"
#include "solve/column_refit.hpp"
#include "solve/feature_columns.hpp"
#include "solve/regression_tableau.hpp"

namespace fsstream {

struct ColumnPoolOptions {
  std::size_t k = 1;        // s
  std::size_t columns = 3;  // K as a multiple of s
  bool intercept = true;
  double ridge = 0;  // on weights of columns with mean square 1, or of raw columns
  bool unit_scale = true;
  std::size_t memory = 0;  // bytes for columns; 0: no bound
};

class ColumnPool {
 public:
  ColumnPool(std::span<const float> targets, const ColumnPoolOptions& options);

  Arrival arrive(Feature& feature, FeatureReader& reader);
  void end_scan() { ++scan_; }

  // The members with the s best scores, best first.
  std::vector<std::size_t> best() const;

  // The weights these members have before any refit: the model's, and for members outside the
  // model what each would get if it joined alone.
  RefittedModel current(std::span<const std::size_t> slots) const;

  struct Counts {
    std::uint64_t seen = 0, screened = 0, entered = 0, collisions = 0;
  };

  const FeatureColumns& columns() const { return columns_; }
  const std::string& name(std::size_t slot) const { return members_.name(slot); }
  const std::vector<std::string>& names() const { return members_.names(); }
  const RegressionTableau& tableau() const { return tableau_; }
  std::size_t size() const { return tableau_.size(); }
  const std::vector<double>& targets() const { return targets_; }
  double target_mean() const { return target_mean_; }
  const ColumnPoolOptions& options() const { return options_; }
  const Counts& counts() const { return counts_; }
  double noise() const;

  // Lists everything that is needed to go on bit for bit; false when what was read does not fit.
  template <class State>
  bool visit_state(State& state);

 private:
  bool screened_out(const Feature& feature) const;
  double diagonal(double length) const;
  bool multiply(const Feature& feature, const float* dense, bool in_model, bool copies_too);
  void put(std::size_t slot, const Feature& feature, const float* dense, double target_product);
  void choose_model();
  bool choose_significant();
  bool exchange_best();
  void refresh_residual();
  void refresh_threshold();

  ColumnPoolOptions options_;
  std::size_t samples_;
  std::size_t largest_model_;
  std::vector<double> targets_;  // centred when there is an intercept
  double target_mean_ = 0;
  FeatureColumns columns_;
  RegressionTableau tableau_;
  std::vector<double> residual_;
  std::vector<float> narrow_residual_;
  double residual_sum_ = 0;
  double residual_length_ = 0;
  ColumnMembers members_;
  std::uint64_t scan_ = 0;
  std::size_t weakest_ = 0;  // the member to go next
  double smallest_ = 0;      // its score
  double share_ = 0.9;       // of the smallest score that rejects unseen
  std::vector<double> products_, scores_;
  std::vector<std::size_t> order_;
  Counts counts_;
};

// The residual and the threshold follow from the rest.
template <class State>
bool ColumnPool::visit_state(State& state) {
  std::vector<std::uint64_t> numbers{scan_, counts_.seen, counts_.screened, counts_.entered, counts_.collisions};
  state.fixed("counts", numbers);
  scan_ = numbers[0];
  counts_ = {numbers[1], numbers[2], numbers[3], numbers[4]};
  if (!members_.visit_state(state) || !tableau_.visit_state(state) || !columns_.visit_state(state)) return false;
  if (members_.size() != tableau_.size()) return false;
  refresh_residual();
  refresh_threshold();
  return true;
}

}  // namespace fsstream

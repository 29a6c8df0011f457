// Proj-GD, the batch counterpart of OS: a gradient step on all features, then the s largest |w|.
//
// Objective   min f(w) subject to |w|_0 <= s (see substitution_set.hpp for f).
// A scan      is one iteration: with u and so the slope fixed, every arrival gets its weight
//             w_j - eta grad_j; the s largest are kept with their columns, so memory is the 2 s
//             columns of this iterate and the next, whatever the number of features.
// Step        eta = 1/L unless given. The curvature along the step that was taken is known exactly
//             at the end of a scan; if it exceeds L, L is raised and the scan taken again, so that
//             the objective never rises.
// End         when the support stays and the weights move by less than a thousandth.
#pragma once

#include <memory>

#include "solve/substitution_set.hpp"

namespace fsstream {

class ProjectedGradient {
 public:
  ProjectedGradient(const ColumnProblem& problem, std::size_t k, double step);

  Arrival arrive(Feature& feature, FeatureReader& reader);
  // True when another scan would still move the weights.
  bool end_scan();

  const SubstitutionSet& set() const { return *now_; }
  std::size_t k() const { return k_; }
  double intercept() const { return intercept_; }
  double objective() const { return objective_; }
  double curvature() const { return curvature_; }

  template <class State>
  bool visit_state(State& state);

 private:
  double step_length() const { return step_ > 0 ? step_ : 1.0 / curvature_; }
  double squared_distance() const;
  void start_scan();

  const ColumnProblem& problem_;
  std::size_t k_;
  double step_;
  double curvature_;
  double intercept_;
  double objective_;
  std::unique_ptr<SubstitutionSet> now_, next_;
  std::vector<double> u_, slope_;
  double slope_sum_ = 0;
  std::uint64_t scan_ = 0;
};

template <class State>
bool ProjectedGradient::visit_state(State& state) {
  std::vector<double> numbers{curvature_, intercept_, objective_};
  state.fixed("numbers", numbers);
  curvature_ = numbers[0];
  intercept_ = numbers[1];
  objective_ = numbers[2];
  std::vector<std::uint64_t> scan{scan_};
  state.fixed("scan", scan);
  scan_ = scan[0];
  state.fixed("predictions", u_);
  state.enter("now_");
  bool fits = now_->visit_state(state);
  state.enter("next_");
  fits = next_->visit_state(state) && fits;
  state.enter("");
  slope_sum_ = problem_.slopes(u_, slope_);
  return fits;
}

}  // namespace fsstream

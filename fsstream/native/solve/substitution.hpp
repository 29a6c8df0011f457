// Online Substitution (OS), Algorithm 1 of the paper, and its two naive baselines.
//
// Objective   min f(w) subject to |w|_0 <= s, features seen one by one.
// paper       On arrival x_j: a gradient step eta/m on the retained weights, eta on w_j = 0. When
//             that makes s + 1 weights, the smallest goes, if the objective falls enough:
//             f(next) - f(prev) <= c (L_F/2 - 1/(2 eta)) |next - prev|^2       (11)
//             else x_j goes and the retained weights keep their step.
//             eta is what the user says, else 0.5 / L_F. L_F, the largest curvature of f over the
//             retained columns, is estimated by one power iteration after every substitution and
//             kept valid by looking at every step: the curvature along it is known exactly,
//             |X (next - prev)|^2 / (n |next - prev|^2); if it exceeds L_F, L_F is raised and the
//             step taken again. So (6), and with it Theorem 1, hold along the path.
// projection  The naive baseline: one coordinate step on w_j, then the s largest |w| stay.
// proximal    The same with soft thresholding of w_j: by eta l1, or when l1 is not given by the
//             smallest |w| once S is full, the least threshold that leaves s.
//
// Ours: the intercept is one more coordinate that is always retained; it moves with step eta/m.
#pragma once

#include "solve/substitution_set.hpp"

namespace fsstream {

struct SubstitutionOptions {
  enum class Rule { kPaper, kProjection, kProximal };
  Rule rule = Rule::kPaper;
  std::size_t k = 1;            // s
  double step = 0;              // eta; 0: from the estimate of L_F
  double retained_divisor = 1;  // m
  double descent = 0.5;         // c
  double l1 = 0;
};

class Substitution {
 public:
  Substitution(const ColumnProblem& problem, const SubstitutionOptions& options);

  Arrival arrive(Feature& feature, FeatureReader& reader);
  void end_scan() { ++scan_; }

  // What Theorem 1 speaks about, added up over all arrivals.
  struct Progress {
    double objective = 0;        // f now
    double first_objective = 0;  // f before the first arrival
    double step_squares = 0;     // sum of |next - prev|^2
    double promised = 0;         // sum of c (1/(2 eta) - L_F/2) |next - prev|^2
    double curvature = 0;        // L_F
  };
  const Progress& progress() const { return progress_; }
  const SubstitutionSet& set() const { return set_; }
  double intercept() const { return intercept_; }
  const SubstitutionOptions& options() const { return options_; }
  std::span<const std::uint64_t> counts() const { return counts_; }

  template <class State>
  bool visit_state(State& state);

 private:
  enum Count { kSeen, kEntered, kRefused, kCollisions, kCounts };
  struct Step;

  double step_length() const { return options_.step > 0 ? options_.step : 0.5 / progress_.curvature; }
  double objective(const std::vector<double>& u, double squares) const;
  Arrival substitute(Feature& feature, const float* dense, double gradient);
  Step retained_step(double eta) const;
  std::size_t leaver_after(const Step& retained, double weight) const;
  Step joining_step(const Step& retained, double weight, std::size_t leaver) const;
  double objective_after(const Step& step) const;
  bool curvature_holds(const std::vector<double>& change, double squares);
  void take(const Step& step);
  Arrival coordinate_step(Feature& feature, const float* dense, double gradient, std::size_t slot, bool retained);
  void refresh_objective();

  const ColumnProblem& problem_;
  SubstitutionOptions options_;
  SubstitutionSet set_;
  std::vector<double> u_, slope_;
  double slope_sum_ = 0;
  double intercept_ = 0;
  std::uint64_t scan_ = 0;
  Progress progress_;
  std::vector<double> gradients_;
  std::vector<std::uint64_t> counts_;
};

template <class State>
bool Substitution::visit_state(State& state) {
  std::vector<double> numbers{
      intercept_,         progress_.objective, progress_.first_objective, progress_.step_squares,
      progress_.promised, progress_.curvature};
  state.fixed("numbers", numbers);
  intercept_ = numbers[0];
  progress_ = {numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  std::vector<std::uint64_t> scan{scan_};
  state.fixed("scan", scan);
  scan_ = scan[0];
  state.fixed("counts", counts_);
  state.fixed("predictions", u_);
  return set_.visit_state(state);
}

}  // namespace fsstream

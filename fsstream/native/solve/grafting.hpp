// Grafting (Perkins, Theiler 2003): the l1 rival, features seen one by one.
//
// Objective   min f(w) + lambda |w|_1 over the features admitted so far (f: substitution_set.hpp).
// Arrival     x_j is admitted if |df/dw_j| > lambda; then the problem on the admitted features is
//             solved by cyclic coordinate descent and zeros are dropped. Else it costs one product.
// lambda      given, or searched for k over scans: the first scan finds the lambda above which
//             nothing enters; then lambda falls until at least k stay, and is narrowed between the
//             last two a few times: the largest found that leaves at least k.
// Memory      is that of the admitted columns: not bounded by k, which is the method's weakness.
#pragma once

#include "solve/substitution_set.hpp"

namespace fsstream {

struct GraftingOptions {
  std::size_t k = 0;       // 0: whatever lambda leaves
  double lambda = 0;       // 0: searched for k
  std::size_t memory = 0;  // bytes for columns; 0: no bound
};

class Grafting {
 public:
  Grafting(const ColumnProblem& problem, const GraftingOptions& options);

  Arrival arrive(Feature& feature, FeatureReader& reader);
  // True when the search for lambda wants another scan.
  bool end_scan();

  const SubstitutionSet& set() const { return set_; }
  const GraftingOptions& options() const { return options_; }
  double intercept() const { return intercept_; }
  double lambda() const { return lambda_; }
  std::span<const std::uint64_t> counts() const { return counts_; }

  template <class State>
  bool visit_state(State& state);

 private:
  enum Count { kSeen, kAdmitted, kSweeps, kCollisions, kMost, kCounts };

  bool next_lambda();
  void solve();
  double sweep();
  void drop_zeros();

  const ColumnProblem& problem_;
  GraftingOptions options_;
  SubstitutionSet set_;
  std::vector<double> u_, slope_;
  double slope_sum_ = 0;
  double intercept_;
  std::uint64_t scan_ = 0;
  double lambda_;
  double largest_ = 0;    // lambda above which nothing enters
  double too_large_ = 0;  // the smallest lambda that left fewer than k
  double good_ = 0;       // the largest that left at least k
  double narrowings_ = 0;
  bool searching_;
  std::vector<std::uint64_t> counts_;
};

template <class State>
bool Grafting::visit_state(State& state) {
  std::vector<double> numbers{intercept_, lambda_, largest_, too_large_, good_, narrowings_, searching_ ? 1.0 : 0.0};
  state.fixed("numbers", numbers);
  intercept_ = numbers[0];
  lambda_ = numbers[1];
  largest_ = numbers[2];
  too_large_ = numbers[3];
  good_ = numbers[4];
  narrowings_ = numbers[5];
  searching_ = numbers[6] != 0;
  state.fixed("counts", counts_);
  std::vector<std::uint64_t> sizes{scan_, set_.columns().slots()};
  state.fixed("sizes", sizes);
  scan_ = sizes[0];
  if constexpr (State::kReading) {
    if (sizes[1] > (std::uint64_t{1} << 32)) return false;
    set_.grow(sizes[1]);
  }
  state.fixed("predictions", u_);
  slope_sum_ = problem_.slopes(u_, slope_);
  return set_.visit_state(state);
}

}  // namespace fsstream

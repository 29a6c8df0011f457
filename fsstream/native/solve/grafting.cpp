#include "solve/grafting.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "solve/soft_threshold.hpp"

namespace fsstream {

namespace {

constexpr double kFirst = 0.5;     // of the largest lambda: where the search begins
constexpr double kFall = 0.6;      // a scan
constexpr double kNarrowings = 4;  // between too large and good
constexpr double kFloor = 1e-6;    // of the largest lambda: where the search gives up
constexpr double kSolved = 1e-4;   // largest move of a sweep against the largest weight
constexpr int kSweepLimit = 1000;

}  // namespace

Grafting::Grafting(const ColumnProblem& problem, const GraftingOptions& options)
    : problem_(problem),
      options_(options),
      set_(problem, 2 * std::max<std::size_t>(options.k, 8)),
      u_(problem.samples(), problem.first_intercept()),
      slope_(problem.samples()),
      intercept_(problem.first_intercept()),
      lambda_(options.lambda),
      searching_(options.lambda == 0),
      counts_(kCounts) {
  if (problem.options.intercept && !problem.loss.quadratic()) solve();
  slope_sum_ = problem_.slopes(u_, slope_);
}

Arrival Grafting::arrive(Feature& feature, FeatureReader& reader) {
  ++counts_[kSeen];
  feature.key = key_of_name(feature.name);
  Arrival outcome = Arrival::kRejected;
  std::size_t slot = 0;
  if (set_.find(feature, scan_, slot, outcome)) {
    if (outcome == Arrival::kCollided) ++counts_[kCollisions];
    return outcome;
  }
  const double gradient = measured_product(feature, problem_, slope_, slope_sum_);
  if (feature.length == 0) return outcome;
  if (searching_ && lambda_ == 0) {
    largest_ = std::max(largest_, std::abs(gradient));
    return outcome;
  }
  if (std::abs(gradient) <= lambda_) return outcome;
  ++counts_[kAdmitted];
  set_.add(feature, reader.scattered(feature), 0.0, scan_);
  counts_[kMost] = std::max<std::uint64_t>(counts_[kMost], set_.size());
  if (options_.memory != 0 && set_.bytes() > options_.memory)
    throw LimitExceeded("grafting has admitted " + std::to_string(set_.size()) +
                        " columns, more than --memory holds\n" +
                        "give more --memory or a larger --l1; os keeps a fixed number of columns");
  solve();
  return Arrival::kEntered;
}

// One pass of coordinate steps over the admitted; returns the largest move.
double Grafting::sweep() {
  ++counts_[kSweeps];
  const auto n = static_cast<double>(u_.size());
  const double bend = problem_.loss.largest_curvature();
  double largest = 0;
  if (problem_.options.intercept) {
    const double shift = -problem_.slopes(u_, slope_) / bend;
    intercept_ += shift;
    for (double& prediction : u_) prediction += shift;
    largest = std::abs(shift);
  }
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const double factor = problem_.factor(set_.columns().length(i));
    const double curvature = bend * factor * factor / n + problem_.options.ridge;
    const double sum = problem_.slopes(u_, slope_);
    const double before = set_.weight(i);
    const double weight = soft_threshold(before - set_.gradient(i, slope_, sum) / curvature, lambda_ / curvature);
    if (weight == before) continue;
    double offset = 0;
    set_.move(i, weight - before, u_.data(), offset);
    if (offset != 0)
      for (double& prediction : u_) prediction -= offset;
    set_.set_weight(i, weight);
    largest = std::max(largest, std::abs(weight - before));
  }
  return largest;
}

void Grafting::solve() {
  for (int count = 0; count < kSweepLimit; ++count) {
    const double moved = sweep();
    double heaviest = std::abs(intercept_);
    for (const double weight : set_.weights()) heaviest = std::max(heaviest, std::abs(weight));
    if (moved <= kSolved * heaviest) break;
  }
  drop_zeros();
  slope_sum_ = problem_.slopes(u_, slope_);
}

void Grafting::drop_zeros() {
  for (std::size_t i = set_.size(); i-- > 0;)
    if (set_.weight(i) == 0) set_.remove(i);
}

bool Grafting::end_scan() {
  ++scan_;
  if (!searching_) return false;
  searching_ = next_lambda();
  if (searching_) solve();
  return searching_;
}

bool Grafting::next_lambda() {
  if (lambda_ == 0) {
    lambda_ = kFirst * largest_;
    return largest_ > 0;
  }
  const bool enough = set_.size() >= options_.k;
  if (enough) {
    good_ = lambda_;
    if (too_large_ == 0 || narrowings_ >= kNarrowings) return false;
  } else {
    too_large_ = lambda_;
    if (good_ == 0) {
      lambda_ *= kFall;
      return lambda_ > kFloor * largest_;
    }
  }
  if (++narrowings_ <= kNarrowings) {
    lambda_ = std::sqrt(good_ * too_large_);
  } else if (!enough && lambda_ <= good_) {  // from another start it left fewer: down again, or there is no end
    good_ = 0;
    lambda_ *= kFall;
  } else {
    lambda_ = good_;
  }
  return true;
}

}  // namespace fsstream

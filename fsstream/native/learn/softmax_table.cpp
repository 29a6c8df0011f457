// How a softmax learner learns the rows of a table, as learn/newton_table.cpp: as far as values are from the means of
// their columns.
#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/softmax_learner.hpp"

namespace fsstream {

void SoftmaxLearner::learn_centred(const Batch& batch, std::size_t row, float* scores) {
  means_.meet(batch, row, options_.forget);
  for (const ColumnMeans::Change& change : means_.changes()) follow(change);
  for (const ColumnMeans::Beginning& beginning : means_.beginnings()) take_unit(beginning);
  sketch_.hash(means_.keys(), means_.size(), hashed_);
  learn(batch, row, {means_.keys(), means_.values(), means_.size(), 0, 0, means_.sources()}, scores);
}

void SoftmaxLearner::follow(const ColumnMeans::Change& change) {
  const Row row = kept_.find(change.key, sketch_.home(change.key));
  if (row == ClassFeatures::kNone) return;
  for (std::size_t c = 0; c < classes_; ++c)
    if (kept_.is_on(row, c)) intercepts_[c] += static_cast<double>(kept_.weights(row)[c]) * change.by;
  Evidence& known = kept_.evidence(row);
  const double square = std::min(change.square, static_cast<double>(Evidence::kLargestSquare));
  known.scaled = static_cast<float>(known.scaled + known.count * square);
}

// What has been learned before was in the unit of values as they are.
void SoftmaxLearner::take_unit(const ColumnMeans::Beginning& beginning) {
  const Row row = kept_.find(beginning.key, sketch_.home(beginning.key));
  if (row == ClassFeatures::kNone) return;
  Evidence& known = kept_.evidence(row);
  const float share = known.share_of(beginning.value, std::min(Evidence::kFar, means_.farthest()));
  for (std::size_t c = 0; c < classes_; ++c) kept_.weights(row)[c] *= share;
  known.scaled = std::max(known.count * beginning.variance, std::numeric_limits<float>::min());
}

// What the active features of each class add where each column is at its mean.
std::vector<double> SoftmaxLearner::active_at_means() const {
  std::vector<double> sums(classes_);
  means_.for_each([&](Key key, double mean) {
    const Row row = kept_.find(key, sketch_.home(key));
    if (row == ClassFeatures::kNone) return;
    for (std::size_t c = 0; c < classes_; ++c)
      if (kept_.is_on(row, c)) sums[c] += static_cast<double>(kept_.weights(row)[c]) * mean;
  });
  return sums;
}

std::vector<double> SoftmaxLearner::intercepts() {
  std::vector<double> found = intercepts_;
  if (means_.on())
    for (const Chosen& chosen : top()) found[chosen.c] -= static_cast<double>(chosen.weight) * means_.mean(chosen.key);
  return found;
}

// The unit of a column that is not active is its deviation: a value counts in it, not by its sign alone.
void SoftmaxLearner::use_units(const float* values) {
  const float* variances = means_.variances();
  for (std::size_t i = 0; i < sketched_.size(); ++i)
    if (const float variance = variances[sketched_[i]]; variance > 0.0F && factors_[i] != 0.0F)
      factors_[i] = values[sketched_[i]] / std::sqrt(variance);
}

// Of an entry whose weights enter.
float SoftmaxLearner::square_of_unit(std::size_t entry, float value) const {
  const float variance = means_.on() ? means_.variances()[entry] : 0.0F;
  return variance > 0.0F ? variance : Evidence::square_of(value);
}

}  // namespace fsstream

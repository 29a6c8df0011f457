// How a Newton learner learns the rows of a table: as far as values are from the means of their columns.
#include <algorithm>
#include <limits>

#include "learn/newton.hpp"

namespace fsstream {

double Newton::learn_centred(const Batch& batch, std::size_t row) {
  const double before = seeded_ ? active_at_means() : 0.0;
  means_.meet(batch, row, forget_);
  if (seeded_) intercept_ += scale_.value * (active_at_means() - before);
  for (const ColumnMeans::Change& change : means_.changes()) follow(change);
  for (const ColumnMeans::Beginning& beginning : means_.beginnings()) take_unit(beginning);
  const std::size_t size = means_.size();
  sketch_.hash(means_.keys(), size, hashed_);
  slots_of_run_.look_up(active_, {means_.keys(), sketch_.rows(hashed_, 0)}, size);
  make_room(size);
  const Row at{means_.keys(), means_.values(), size, 0, 0, means_.sources()};
  return learn(batch, at, batch.targets[row], batch.importance[row]);
}

// What the active features add where each column of a table is at its mean. Means of a few rows wander: a score by an
// earlier model's weights, which knew the values as they are, must not wander with them.
double Newton::active_at_means() const {
  double sum = 0.0;
  means_.for_each([&](Key key, double mean) {
    const std::uint32_t slot = active_.find(key, sketch_.home(key));
    if (slot != ActiveSet::kNone) sum += static_cast<double>(active_.weight(slot)) * mean;
  });
  return sum;
}

void Newton::follow(const ColumnMeans::Change& change) {
  const std::uint32_t slot = active_.find(change.key, sketch_.home(change.key));
  if (slot == ActiveSet::kNone) return;
  const float weight = active_.weight(slot);
  Evidence known = evidence_of(slot);
  if (!seeded_) intercept_ += scale_.value * static_cast<double>(weight) * change.by;
  const double square = std::min(change.square, static_cast<double>(Evidence::kLargestSquare));
  known.scaled = static_cast<float>(known.scaled + known.count * square);
  set(slot, weight, known);
}

// What has been learned before was in the unit of values as they are.
void Newton::take_unit(const ColumnMeans::Beginning& beginning) {
  const std::uint32_t slot = active_.find(beginning.key, sketch_.home(beginning.key));
  if (slot == ActiveSet::kNone) return;
  const Evidence known = evidence_of(slot);
  const float share = known.share_of(beginning.value, farthest());
  const float scaled = std::max(known.count * beginning.variance, std::numeric_limits<float>::min());
  set(slot, active_.weight(slot) * share, {scaled, known.count});
}

// In units of a feature, what a value of it may be. Of a few rows a table's columns know how far one can be away; a
// weight that is older must not shrink because these rows were near each other by chance.
float Newton::farthest() const { return seeded_ ? Evidence::kFar : std::min(Evidence::kFar, means_.farthest()); }

// What a pair says of the unit of a table's column, and what the column itself says, with this row.
void Newton::forget_units() {
  const float* variances = means_.variances();
  for (std::size_t i = 0; i < others_; ++i)
    if (variances[absent_[i]] > 0.0F) scaled_[others_at_ + i] = 0.0F;
}

void Newton::use_units() {
  const float* variances = means_.variances();
  for (std::size_t i = 0; i < others_; ++i)
    if (const float variance = variances[absent_[i]]; variance > 0.0F)
      scaled_[others_at_ + i] = std::max(counts_[others_at_ + i] * variance, std::numeric_limits<float>::min());
}

}  // namespace fsstream

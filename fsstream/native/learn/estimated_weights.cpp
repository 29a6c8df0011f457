#include <algorithm>

#include "learn/sketched_weights.hpp"
#include "sketch/warm_up.hpp"

namespace fsstream {

namespace {

constexpr double kLeastPending = 1e-3;  // what is put back is divided by it

}  // namespace

void EstimatedWeights::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  SketchedWeights::hash(batch, first, size, longest);
  warm_up(sketch_.rows(hashed_, 0), sketch_.depth(), size);
}

double EstimatedWeights::score(const Row& row) {
  return sketch_.scale() * sketch_.kernels().score_above(sketch_.rows(hashed_, row.hashed), row.size, row.values(),
                                                         threshold_, estimates_.data());
}

void EstimatedWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / sketch_.scale());
  const std::size_t above =
      kernels_.step_above(estimates_.data(), row.values(), row.size, step, threshold_, steps_.data(), listed_.data());
  sketch_.kernels().add(sketch_.rows(hashed_, row.hashed), row.size, steps_.data());
  kernels_.find_listed(active_.buckets(), row.keys(), homes(row), listed_.data(), above, slots_.data());
  check_names(row, listed_.data(), above);
  for (std::size_t i = 0; i < above; ++i)
    if (slots_[i] == ActiveSet::kNone) enter(row, listed_[i]);
}

// Entry j of the row exceeds the threshold and was no candidate.
void EstimatedWeights::enter(const Row& row, std::size_t j) {
  const Key key = row.keys()[j];
  if (active_.find(key, homes(row)[j]) != ActiveSet::kNone) return;  // twice in the row
  active_.insert(key, homes(row)[j], 0.0F, active_.add_name(*row.batch, row.first + j));
  if (active_.full()) prune();
}

// What the sketch says now decides who stays; candidates_ are then these.
void EstimatedWeights::prune() {
  active_.list_entries(candidates_);
  const Asked& asked = ask(candidates_);
  for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i].weight = asked.estimates[i];
  keep_best([](std::span<const ActiveSet::Entry>) {});
}

void EstimatedWeights::shrink(double factor) {
  double rewritten;
  if (sketch_.shrink(factor, rewritten)) threshold_ = static_cast<float>(threshold_ * rewritten);
}

void EstimatedWeights::attenuate(double factor) {
  pending_ *= factor;
  if (++rows_pending_ < k_ && pending_ > kLeastPending) return;
  attenuate_others(pending_);
  pending_ = 1.0;
  rows_pending_ = 0;
}

// S <- f S + (1 - f) (sketch of the top k), by linearity; the top k keep their estimates.
void EstimatedWeights::attenuate_others(double factor) {
  prune();
  ActiveSet::sort_by_key(candidates_);
  for (const ActiveSet::Entry& entry : candidates_)
    sketch_.add(entry.key, static_cast<float>(entry.weight * (1.0 / factor - 1.0)));
  threshold_ = static_cast<float>(threshold_ / factor);
  shrink(factor);
}

void EstimatedWeights::seed(Key key, const std::string& name, float weight) {
  sketch_.add(key, static_cast<float>(weight / sketch_.scale()));
  const std::uint32_t home = sketch_.home(key);
  if (active_.find(key, home) != ActiveSet::kNone) return;
  active_.insert(key, home, 0.0F, active_.add_name(name, key));
  if (active_.full()) prune();
}

float EstimatedWeights::weight_of(const ActiveSet::Entry& entry) const {
  return static_cast<float>(sketch_.query(entry.key) * sketch_.scale());
}

void EstimatedWeights::save(StateWriter& out) const { save_shared(out, pending_, static_cast<double>(rows_pending_)); }

void EstimatedWeights::load(const StateReader& in) {
  const auto numbers = load_shared(in);
  pending_ = numbers[0];
  rows_pending_ = static_cast<std::uint64_t>(numbers[1]);
}

}  // namespace fsstream

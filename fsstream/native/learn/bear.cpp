#include "learn/bear.hpp"

#include <algorithm>
#include <cmath>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "learn/limits.hpp"

namespace fsstream {

Bear::Bear(Loss loss, const BearOptions& options, CountSketch sketch)
    : loss_(loss), options_(options), weights_(std::move(sketch), options.k) {
  waiting_.start({}, nullptr);
}

std::size_t Bear::bytes() const {
  std::size_t changes = 0;
  for (const Pair& pair : pairs_) changes += pair.size();
  return weights_.bytes() + sum_.bytes() + changes * sizeof(Change) + waiting_.arena.size() +
         waiting_.entries() * (sizeof(Key) + sizeof(float) + sizeof(TextRef));
}

void Bear::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (waiting_.rows() != 0 && !same_naming(batch, waiting_)) step();
    const std::size_t first = batch.row_begin(row);
    const std::size_t size = batch.row_end(row) - first;
    const double target = batch.targets[row];
    const double score = intercept_ + weights_.score({&batch, first, size, 0});
    scores[row] = static_cast<float>(score);
    largest_target_ = std::max(largest_target_, std::fabs(target));
    check_score(score, largest_score(loss_, largest_target_), rows_ + 1);
    squares_ += dot(batch.values.data() + first, batch.values.data() + first, size);
    entries_ += static_cast<double>(size);
    append_row(batch, row, waiting_);
    ++rows_;
    if (waiting_.rows() == options_.batch) step();
  }
  progress_.add(loss_, batch, scores);
  if (bytes() > options_.memory)
    throw LimitExceeded(
        "sketch, mini-batch and pairs do not fit into --memory\nraise --memory, or lower --k or --set batch");
}

void Bear::end_pass() {
  if (waiting_.rows() != 0) step();
}

void Bear::step() {
  std::vector<double> before;
  std::vector<double> gradient;
  const double slope = find_gradient(gradient, before);
  std::vector<double> direction = gradient;
  precondition(direction);
  const Row row = sum_.row(direction);
  weights_.score(row);
  weights_.add(row, -options_.learning_rate);

  std::vector<double> after;
  std::vector<double> changed;
  find_gradient(changed, after);
  for (std::size_t i = 0; i < before.size(); ++i) {
    after[i] -= before[i];
    changed[i] += options_.damping * typical_square() * after[i] - gradient[i];
  }
  keep_pair(after, changed);
  if (options_.intercept) intercept_ -= options_.learning_rate * slope * typical_square();
  check_score(intercept_, kOutOfRange, rows_);
  waiting_.start({}, nullptr);
  sum_.clear();
}

// At the active weights, on the features of the batch, in the order in which they came; those
// weights, too. Returns the mean slope.
double Bear::find_gradient(std::vector<double>& gradient, std::vector<double>& weights) {
  const auto rows = static_cast<double>(waiting_.rows());
  double slopes = 0.0;
  sum_.clear_amounts();
  for (std::size_t r = 0; r < waiting_.rows(); ++r) {
    const Row row{&waiting_, waiting_.row_begin(r), waiting_.row_end(r) - waiting_.row_begin(r), 0};
    const double slope =
        waiting_.importance[r] * loss_.slope(intercept_ + weights_.score(row), waiting_.targets[r]) / rows;
    sum_.add(row, slope);
    slopes += slope;
  }
  gradient.assign(sum_.amounts().begin(), sum_.amounts().end());
  weights.clear();
  for (const Key key : sum_.keys()) weights.push_back(weights_.active(key));
  for (std::size_t i = 0; i < weights.size(); ++i) gradient[i] += options_.l2 * weights[i];
  return slopes;
}

std::vector<Bear::Restricted> Bear::restricted_pairs() const {
  std::vector<Restricted> parts;
  for (const Pair& pair : pairs_) {
    Restricted part{{}, 0.0, 0.0};
    double product = 0.0;
    for (const Change& change : pair) {
      const Slot slot = sum_.find(change.key);
      if (slot == kNobody) continue;
      part.changes.emplace_back(slot, &change);
      product += change.s * change.r;
    }
    if (!(product > 0.0)) continue;
    part.rho = 1.0 / product;
    parts.push_back(std::move(part));
  }
  return parts;
}

// The two-loop recursion (Nocedal, "Updating Quasi-Newton Matrices with Limited Storage", 1980).
void Bear::precondition(std::vector<double>& direction) {
  std::vector<Restricted> parts = restricted_pairs();
  if (parts.empty()) return;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    double along = 0.0;
    for (const auto& [slot, change] : part->changes) along += change->s * direction[slot];
    part->alpha = part->rho * along;
    for (const auto& [slot, change] : part->changes) direction[slot] -= part->alpha * change->r;
  }
  double squares = 0.0;
  for (const auto& [slot, change] : parts.back().changes) squares += change->r * change->r;
  for (double& z : direction) z /= parts.back().rho * squares;
  for (const Restricted& part : parts) {
    double along = 0.0;
    for (const auto& [slot, change] : part.changes) along += change->r * direction[slot];
    const double beta = part.rho * along;
    for (const auto& [slot, change] : part.changes) direction[slot] += (part.alpha - beta) * change->s;
  }
}

void Bear::keep_pair(const std::vector<double>& moved, const std::vector<double>& changed) {
  double product = 0.0;
  for (std::size_t i = 0; i < moved.size(); ++i) product += moved[i] * changed[i];
  if (!(product > 0.0) || options_.memory_pairs == 0) return;
  Pair pair;
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (moved[i] != 0.0 || changed[i] != 0.0) pair.push_back({sum_.keys()[i], moved[i], changed[i]});
  if (pairs_.size() == options_.memory_pairs) pairs_.erase(pairs_.begin());
  pairs_.push_back(std::move(pair));
}

void Bear::save(StateWriter& out) const {
  const double numbers[] = {intercept_, progress_.sum(), progress_.weight(), largest_target_, squares_, entries_};
  out.put("bear", std::span<const double>(numbers));
  out.put("rows", std::span<const std::uint64_t>(&rows_, 1));
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> keys;
  std::vector<double> changes;
  for (const Pair& pair : pairs_) {
    sizes.push_back(pair.size());
    for (const Change& change : pair) {
      keys.push_back(change.key);
      changes.insert(changes.end(), {change.s, change.r});
    }
  }
  out.put("pair_sizes", std::span<const std::uint64_t>(sizes));
  out.put("pair_keys", std::span<const std::uint64_t>(keys));
  out.put("pair_changes", std::span<const double>(changes));
  save_rows(waiting_, out);
  weights_.save(out);
}

void Bear::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("bear"), 6, "bear");
  const auto sizes = in.words("pair_sizes");
  const auto keys = in.words("pair_keys");
  const auto changes = of_size(in.doubles("pair_changes"), 2 * keys.size(), "pair_changes");
  if (sizes.size() > options_.memory_pairs) throw BadState("state: more pairs than are kept");
  pairs_.clear();
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) {
    if (size > keys.size() - at) throw BadState("state: pairs are cut off");
    Pair& pair = pairs_.emplace_back();
    for (const std::size_t end = at + static_cast<std::size_t>(size); at < end; ++at)
      pair.push_back({keys[at], changes[2 * at], changes[2 * at + 1]});
  }
  waiting_.start({}, nullptr);
  load_rows(in, waiting_);
  if (waiting_.rows() >= options_.batch) throw BadState("state: more rows than a batch has");
  weights_.load(in);
  intercept_ = numbers[0];
  progress_.set(numbers[1], numbers[2]);
  largest_target_ = numbers[3];
  squares_ = numbers[4];
  entries_ = numbers[5];
  rows_ = of_size(in.words("rows"), 1, "rows")[0];
}

}  // namespace fsstream

#include "solve/column_pool.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

constexpr double kGate = 9.0;     // z^2 of a member of the model
constexpr double kWorth = 4.0;    // z^2 of an exchange within the pool
constexpr double kCaution = 0.9;  // of the least share that the model leaves of a member
constexpr int kRounds = 4;
constexpr int kExchanges = 20;

}  // namespace

ColumnPool::ColumnPool(std::span<const float> targets, const ColumnPoolOptions& options)
    : options_(options),
      samples_(targets.size()),
      targets_(targets.begin(), targets.end()),
      columns_(targets.size(), options.columns * options.k, options.intercept, Precision::kCodes),
      tableau_(options.columns * options.k, 0.0),
      residual_(targets.size()),
      narrow_residual_(targets.size()),
      products_(options.columns * options.k),
      scores_(options.columns * options.k) {
  const auto n = static_cast<double>(samples_);
  const std::size_t free = samples_ - (options.intercept && samples_ > 0 ? 1 : 0);
  largest_model_ = std::max<std::size_t>(1, std::min(options.k, free / 2));
  if (options.intercept && samples_ > 0) {
    target_mean_ = std::accumulate(targets_.begin(), targets_.end(), 0.0) / n;
    for (double& target : targets_) target -= target_mean_;
  }
  tableau_ = RegressionTableau(options.columns * options.k, dot(targets_.data(), targets_.data(), samples_));
  refresh_residual();
}

double ColumnPool::diagonal(double length) const {
  if (options_.ridge == 0) return 1.0;
  return 1.0 +
         (options_.unit_scale ? options_.ridge : options_.ridge * static_cast<double>(samples_) / (length * length));
}

double ColumnPool::noise() const {
  const auto free =
      static_cast<double>(samples_) - static_cast<double>(tableau_.model_size()) - (options_.intercept ? 1 : 0);
  return std::max(tableau_.residual_squares(), 0.0) / std::max(free, 1.0);
}

// True when the single-precision sums, at their worst, still leave the arrival too weak.
bool ColumnPool::screened_out(const Feature& feature) const {
  if (!feature.dense || tableau_.size() < columns_.slots()) return false;
  const ColumnMoments sums = screen_moments(feature.values, narrow_residual_.data(), samples_);
  const auto n = static_cast<double>(samples_);
  const double mean = options_.intercept ? sums.sum / n : 0.0;
  const double squares = sums.squares - n * mean * mean;
  if (squares < 0.05 * sums.squares) return false;  // the mean is most of it: too little is left of the precision
  const double length = std::sqrt(sums.squares);
  // Products are off by at most the screen's error, and the residual by its own rounding.
  const double product =
      std::abs(sums.with_residual - mean * residual_sum_) + 2 * kScreenError * length * residual_length_;
  const double least = squares - 60 * kScreenError * squares;
  return product * product < share_ * smallest_ * least;
}

Arrival ColumnPool::arrive(Feature& feature, FeatureReader& reader) {
  ++counts_.seen;
  feature.key = key_of_name(feature.name);
  Arrival outcome = Arrival::kRejected;
  std::size_t slot = 0;
  if (members_.find(feature, scan_, slot, outcome)) {
    if (outcome == Arrival::kCollided) ++counts_.collisions;
    return outcome;
  }
  if (screened_out(feature)) {
    ++counts_.screened;
    return outcome;
  }
  const double raw_product = measure(feature, samples_, options_.intercept, residual_.data());
  if (feature.length == 0) return outcome;
  const double product = (raw_product - feature.mean * residual_sum_) / feature.length;
  const bool full = tableau_.size() == columns_.slots();
  if (full && product * product < share_ * smallest_) {
    ++counts_.screened;
    return outcome;
  }
  const float* dense = reader.scattered(feature);
  // Copies score 0 and are the first to go when a better one wants in.
  const bool copies_too = tableau_.size() < options_.k;
  // What the model leaves of it settles most cases; the rest of the pool is looked at by what enters.
  if (!multiply(feature, dense, true, copies_too)) return outcome;
  const double left = tableau_.unexplained_of(products_, diagonal(feature.length));
  if ((left < kCopy && !copies_too) || (full && product * product / left <= smallest_)) return outcome;
  if (!multiply(feature, dense, false, copies_too)) return outcome;
  const double target_product = feature.dense
                                    ? dot(feature.values, targets_.data(), samples_)
                                    : gathered_dot(feature.values, feature.samples, feature.count, targets_.data());
  put(full ? weakest_ : tableau_.size(), feature, dense, target_product / feature.length);
  choose_model();
  return Arrival::kEntered;
}

// Products with the members inside or outside the model; false when the arrival is a copy of one that is not wanted.
bool ColumnPool::multiply(const Feature& feature, const float* dense, bool in_model, bool copies_too) {
  for (std::size_t slot = 0; slot < tableau_.size(); ++slot) {
    if (tableau_.in_model(slot) != in_model) continue;
    products_[slot] = columns_.with_feature(slot, feature, dense);
    if (!copies_too && std::abs(products_[slot]) > 1.0 - kCopy) return false;
  }
  return true;
}

void ColumnPool::put(std::size_t slot, const Feature& feature, const float* dense, double target_product) {
  ++counts_.entered;
  columns_.keep(slot, feature, dense);
  if (options_.memory != 0 && columns_.bytes() > options_.memory)
    throw LimitExceeded("the retained columns need " + std::to_string(columns_.bytes()) +
                        " bytes, more than --memory leaves\n" +
                        "give more --memory, a smaller --k, or --set columns=1");
  members_.put(slot, feature, scan_);
  const bool was_model = slot < tableau_.size() && tableau_.in_model(slot);
  tableau_.put(slot, products_, diagonal(feature.length), target_product);
  if (was_model) refresh_residual();
}

void ColumnPool::choose_model() {
  bool changed = choose_significant();
  for (int round = 0; round < kExchanges && exchange_best(); ++round) changed = true;
  if (changed) refresh_residual();
  refresh_threshold();
}

bool ColumnPool::choose_significant() {
  const std::size_t size = tableau_.size();
  bool changed = false;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < size; ++i) scores_[i] = tableau_.score(i);
    order_ = best();
    const double gate = kGate * noise();
    std::vector<unsigned char> chosen(size);
    for (std::size_t rank = 0; rank < std::min(largest_model_, size); ++rank)
      chosen[order_[rank]] = scores_[order_[rank]] > gate;
    bool moved = false;
    for (std::size_t i = 0; i < size; ++i)
      if (tableau_.in_model(i) && chosen[i] == 0) tableau_.sweep_out(i), moved = true;
    for (const std::size_t i : order_)
      if (!tableau_.in_model(i) && chosen[i] != 0 && tableau_.unexplained(i) >= kCopy)
        tableau_.sweep_in(i), moved = true;
    if (!moved) break;
    changed = true;
  }
  return changed;
}

// The exchange of a member of M for one outside that lowers |r|^2 most, if any is worth it.
bool ColumnPool::exchange_best() {
  const std::size_t size = tableau_.size();
  double best = kWorth * noise();
  std::size_t enters = size, leaves = size;
  for (std::size_t i = 0; i < size; ++i) {
    // Nobody's place is worth more than what i gains by itself.
    if (tableau_.in_model(i) || tableau_.score(i) <= best) continue;
    for (std::size_t j = 0; j < size; ++j) {
      if (!tableau_.in_model(j)) continue;
      const double gain = tableau_.exchange_gain(i, j);
      if (gain > best) best = gain, enters = i, leaves = j;
    }
  }
  if (enters == size) return false;
  tableau_.sweep_in(enters);
  tableau_.sweep_out(leaves);
  return true;
}

void ColumnPool::refresh_residual() {
  residual_ = targets_;
  double offset = 0;
  for (std::size_t i = 0; i < tableau_.size(); ++i)
    if (tableau_.in_model(i)) columns_.add_to(i, -tableau_.weight(i), residual_.data(), offset);
  residual_sum_ = 0;
  for (std::size_t i = 0; i < samples_; ++i) {
    residual_[i] -= offset;
    residual_sum_ += residual_[i];
    narrow_residual_[i] = static_cast<float>(residual_[i]);
  }
  residual_length_ = std::sqrt(dot(residual_.data(), residual_.data(), samples_));
}

void ColumnPool::refresh_threshold() {
  weakest_ = 0;
  double least_left = 1;
  for (std::size_t i = 0; i < tableau_.size(); ++i) {
    scores_[i] = tableau_.score(i);
    if (scores_[i] < scores_[weakest_] || (scores_[i] == scores_[weakest_] && members_.key(i) > members_.key(weakest_)))
      weakest_ = i;
    const double left = tableau_.tolerance(i);
    if (left >= kCopy) least_left = std::min(least_left, left);
  }
  smallest_ = tableau_.size() == 0 ? 0 : scores_[weakest_];
  share_ = kCaution * least_left;
}

std::vector<std::size_t> ColumnPool::best() const {
  std::vector<std::size_t> order(tableau_.size());
  std::vector<double> scores(tableau_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    scores[i] = tableau_.score(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : members_.key(a) < members_.key(b);
  });
  return order;
}

RefittedModel ColumnPool::current(std::span<const std::size_t> slots) const {
  RefittedModel model;
  model.intercept = target_mean_;
  for (const std::size_t slot : slots) {
    double weight = 0;
    if (tableau_.in_model(slot)) {
      weight = tableau_.weight(slot);
    } else if (tableau_.unexplained(slot) >= kCopy) {
      weight = tableau_.residual_product(slot) / tableau_.unexplained(slot);
    }
    model.weights.push_back(weight / columns_.length(slot));
    model.intercept -= model.weights.back() * columns_.mean(slot);
  }
  return model;
}

}  // namespace fsstream

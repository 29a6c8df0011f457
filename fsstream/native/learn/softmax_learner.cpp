#include "learn/softmax_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "learn/class_lanes.hpp"
#include "learn/class_steps.hpp"
#include "learn/flow.hpp"
#include "learn/limits.hpp"
#include "learn/row_runs.hpp"
#include "learn/row_steps.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kRun = 2 * kRunEntries;
const Loss kLogistic(Loss::Kind::kLogistic);
constexpr float kNoClass = std::numeric_limits<float>::infinity();

// Of a run whose entries from `first` on were hashed.
LearnedRow row_of(const Batch& batch, std::size_t row, std::size_t first) {
  const std::size_t begin = batch.row_begin(row);
  return {batch.keys.data() + begin,
          batch.values.data() + begin,
          batch.row_end(row) - begin,
          begin - first,
          begin,
          nullptr};
}

}  // namespace

SoftmaxLearner::SoftmaxLearner(const SoftmaxOptions& options, std::size_t classes)
    : options_(options),
      sketch_(options.depth, options.width, options.seed, ClassSketch::lanes_for(std::max<std::size_t>(classes, 2))),
      kept_(std::max<std::size_t>(4 * options.k, 8), sketch_.lanes()),
      shared_(options.adaptive ? options.width : 0),
      means_(options.adaptive && options.exact && options.intercept && options.k != 0,
             options.memory / ColumnMeans::kShareOfMemory) {
  make_lanes(sketch_.lanes());
  meet_classes(classes);
}

std::size_t SoftmaxLearner::bytes() const {
  return sketch_.bytes() + kept_.bytes() + shared_.capacity() * sizeof(float) + means_.bytes();
}

std::size_t SoftmaxLearner::classes_with(const Batch& batch) const {
  std::size_t classes = classes_;
  for (const float target : batch.targets) classes = std::max(classes, static_cast<std::size_t>(target) + 1);
  return classes;
}

void SoftmaxLearner::make_lanes(std::size_t lanes) {
  thresholds_.resize(lanes, kNoClass);
  for (auto* numbers : {&scores_, &shares_, &pulls_}) numbers->resize(lanes);
  for (auto* numbers : {&active_step_, &other_step_, &asked_step_, &asked_estimates_}) numbers->resize(lanes);
}

// A class starts with no weight and no intercept. More lanes may need a narrower sketch.
void SoftmaxLearner::meet_classes(std::size_t classes) {
  if (classes <= classes_) return;
  if (classes > sketch_.lanes()) {
    const std::size_t lanes = ClassSketch::lanes_for(classes);
    const auto wide = [&] { return ClassSketch::bytes_of(sketch_.depth(), sketch_.width(), lanes); };
    while (wide() > options_.memory / 2) {
      if (sketch_.width() / 2 < options_.least_width)
        throw LimitExceeded("the sketch for " + std::to_string(classes) +
                            " classes does not fit into half of --memory\nraise --memory, or lower --set sketch_width");
      fold();
    }
    sketch_.grow(lanes);
    kept_.grow(lanes);
    make_lanes(lanes);
  }
  std::fill(thresholds_.begin() + static_cast<std::ptrdiff_t>(classes_),
            thresholds_.begin() + static_cast<std::ptrdiff_t>(classes), options_.k == 0 ? -1.0F : 0.0F);
  classes_ = classes;
  intercepts_.resize(classes);
}

// Two cells of evidence become one: the larger is an upper bound of what a feature of either has.
void SoftmaxLearner::fold() {
  sketch_.fold();
  if (shared_.empty()) return;
  const std::size_t width = sketch_.width();
  for (std::size_t i = 0; i < width; ++i) shared_[i] = std::max(shared_[i], shared_[i + width]);
  shared_.resize(width);
}

float SoftmaxLearner::prior() const {
  const auto n = static_cast<double>(std::max<std::size_t>(classes_, 2));
  return static_cast<float>(4.0 * (n - 1.0) / (n * n) * prior_.evidence(static_cast<double>(rows_)));
}

void SoftmaxLearner::update(const Batch& batch, float* scores) {
  const std::size_t outputs = classes_with(batch);
  std::size_t row = 0;
  for (; row < batch.rows() && means_.on(); ++row) {
    meet_classes(static_cast<std::size_t>(batch.targets[row]) + 1);
    std::fill_n(scores + row * outputs, outputs, -kNoClass);
    learn_centred(batch, row, scores + row * outputs);
  }
  while (row < batch.rows()) {
    const std::size_t first = batch.row_begin(row);
    const std::size_t end = run_from(batch, row, kRun).end;
    // The width a place is masked by may shrink on the way: to the low bits of the same word.
    sketch_.hash(batch.keys.data() + first, batch.row_begin(end) - first, hashed_);
    if (options_.exact) warm_up(kept_.names().buckets(), shared_by(0), homes(), batch.row_begin(end) - first);
    for (std::size_t width = sketch_.width(); row < end; ++row) {
      meet_classes(static_cast<std::size_t>(batch.targets[row]) + 1);
      if (sketch_.width() != width) break;
      float* out = scores + row * outputs;
      std::fill_n(out, outputs, -kNoClass);
      learn(batch, row, row_of(batch, row, first), out);
    }
  }
  if (bytes() > options_.memory) throw too_big();
}

void SoftmaxLearner::predict(const Batch& batch, float* scores) {
  const std::vector<double> at_means = active_at_means();
  for (std::size_t row = 0; row < batch.rows();) {
    const std::size_t first = batch.row_begin(row);
    const std::size_t end = run_from(batch, row, kRun).end;
    sketch_.hash(batch.keys.data() + first, batch.row_begin(end) - first, hashed_);
    for (; row < end; ++row, scores += classes_) {
      const LearnedRow entries = row_of(batch, row, first);
      look_up(batch, entries);
      find_scores(entries.values, entries.hashed);
      for (std::size_t c = 0; c < classes_; ++c) scores[c] = static_cast<float>(scores_[c] - at_means[c]);
    }
  }
}

void SoftmaxLearner::learn(const Batch& batch, std::size_t row, const LearnedRow& entries, float* scores) {
  const float* values = entries.values;
  const std::size_t hashed = entries.hashed;
  const auto y = static_cast<std::size_t>(batch.targets[row]);
  const double h = batch.importance[row];
  look_up(batch, entries);
  find_scores(values, hashed);
  for (std::size_t c = 0; c < classes_; ++c) {
    scores[c] = static_cast<float>(scores_[c]);
    check_score(scores_[c], kOutOfRange, rows_ + 1);
  }
  ++rows_;
  find_shares(y);
  double loss = 0.0;  // where there is but one class
  if (classes_ > 1) {
    loss = kLogistic.value(scores_[y], 1.0);
    prior_.losses += h * loss;
    prior_.plain_losses += h * fsstream::log(static_cast<double>(classes_));
  }
  progress_.add(loss, h);
  const double keep = (1.0 - options_.learning_rate * options_.l2) * options_.forget;
  if (keep < 1.0 && !options_.adaptive) shrink(keep);
  if (options_.forget < 1.0 && options_.adaptive) fade();
  const double rate0 = options_.adaptive ? adaptive_steps(y, h, values, hashed) : constant_steps(y, h, values);
  if (h <= 0.0 || classes_ < 2) return;
  if (options_.intercept)
    for (std::size_t c = 0; c < classes_; ++c) intercepts_[c] += static_cast<double>(active_step_[c]) * rate0;
  move(hashed);
  if (options_.k != 0) admit(batch, entries);
}

// Tells entries whose weights are kept beside the sketch from the others.
void SoftmaxLearner::look_up(const Batch& batch, const LearnedRow& entries) {
  const std::uint32_t* homes = this->homes() + entries.hashed;
  const float* values = entries.values;
  const std::size_t size = entries.size;
  const std::size_t room = size + 2 * kSlack;
  for (Buffer<std::uint32_t>* list : {&rows_found_, &beside_, &sketched_, &above_, &risen_}) list->reserve(room);
  for (Buffer<float>* column : {&beside_values_, &scaled_, &counts_, &steps_, &terms_, &sizes_, &shared_counts_,
                                &factors_, &other_terms_, &statures_})
    column->reserve(room);
  const std::size_t kept = kept_.split(entries.keys, homes, size, rows_found_.data(), beside_.data(), sketched_.data());
  kept_.names().check_names(batch, [&](auto visit) {
    for (std::size_t i = 0; i < kept; ++i)
      if (const std::size_t source = entries.source(beside_[i]); source != ColumnMeans::kNowhere)
        visit(kept_.slot(rows_found_[i], homes[beside_[i]]), source);
  });
  beside_.set_size(options_.exact ? kept : 0);
  sketched_.set_size(size - beside_.size());
  if (!options_.exact) std::iota(sketched_.begin(), sketched_.end(), 0U);
  for (std::size_t i = 0; i < beside_.size(); ++i) beside_values_[i] = values[beside_[i]];
  std::fill_n(beside_values_.data() + beside_.size(), kSlack, 0.0F);
}

// The weights of the features beside the sketch in this row.
LaneRows SoftmaxLearner::kept_rows() { return kept_.lanes_of(rows_found_.data(), beside_.size()); }

void SoftmaxLearner::find_scores(const float* values, std::size_t hashed) {
  const std::size_t lanes = sketch_.lanes();
  class_lanes().score(kept_rows(), beside_values_.data(), scores_.data());
  if (!options_.exact) {
    estimates_.reserve(sketched_.size() * lanes);
    sketch_.kernels().estimate(sketch_.rows(hashed_, hashed), sketched_.data(), sketched_.size(), estimates_.data());
    for (std::size_t i = 0; i < sketched_.size(); ++i)
      class_lanes().score_above(estimates_.data() + i * lanes, thresholds_.data(), values[i], lanes, scores_.data());
  }
  for (std::size_t c = 0; c < classes_; ++c) scores_[c] = intercepts_[c] + scale_ * scores_[c];
}

// Shares of the other classes among themselves; scores_[y] becomes the margin over all of them.
void SoftmaxLearner::find_shares(std::size_t y) {
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < classes_; ++c)
    if (c != y) top = std::max(top, scores_[c]);
  double sum = 0.0;
  for (std::size_t c = 0; c < classes_; ++c) {
    shares_[c] = c == y ? 0.0 : fsstream::exp(scores_[c] - top);
    sum += shares_[c];
  }
  if (classes_ < 2) {
    scores_[y] = std::numeric_limits<double>::infinity();
    return;
  }
  for (std::size_t c = 0; c < classes_; ++c) shares_[c] /= sum;
  scores_[y] -= top + fsstream::log(sum);
}

// Both give the factor of the intercepts' steps.
double SoftmaxLearner::constant_steps(std::size_t y, double h, const float* values) {
  squares_ += dot(values, values, beside_.size() + sketched_.size());
  entries_seen_ += static_cast<double>(beside_.size() + sketched_.size());
  for (std::size_t i = 0; i < sketched_.size(); ++i) factors_[i] = values[sketched_[i]];
  std::copy_n(beside_values_.data(), beside_.size(), steps_.data());
  std::fill_n(statures_.data(), sketched_.size(), 1.0F);
  std::fill_n(sizes_.data(), beside_.size(), 1.0F);
  const double step = classes_ < 2 ? 0.0 : options_.learning_rate * h * -kLogistic.slope(scores_[y], 1.0) / scale_;
  spend(y, step, active_step_);
  other_step_ = active_step_;
  return scale_ * (squares_ > 0.0 ? squares_ / entries_seen_ : 1.0);
}

double SoftmaxLearner::adaptive_steps(std::size_t y, double h, const float* values, std::size_t hashed) {
  if (h <= 0.0) {
    prior_.entries += 1.0;
    return 0.0;
  }
  gather_evidence(static_cast<float>(h * curvature(y)), values, hashed);
  const double rate0 = options_.intercept ? 1.0 / (intercept_evidence_ + prior()) : 0.0;
  const double all = rate0 + find_rates();
  if (classes_ < 2) return rate0;
  class_lanes().pull(kept_rows(), terms_.data(), pulls_.data());
  double active = rate0 + pulls_[y];
  double other = all;
  for (std::size_t c = 0; c < classes_; ++c) {
    active += shares_[c] * shares_[c] * (rate0 + pulls_[c]);
    other += shares_[c] * shares_[c] * all;
  }
  const RowLoss row(kLogistic, scores_[y], 1.0);
  const auto spent = [&](double q) { return q > 0.0 ? row.flow(h * q) / q : 0.0; };
  spend(y, spent(active), active_step_);
  spend(y, spent(other), other_step_);
  return rate0;
}

// The largest of p (1 - p).
double SoftmaxLearner::curvature(std::size_t y) const {
  const double wrong = classes_ < 2 ? 0.0 : 1.0 / (1.0 + fsstream::exp(std::min(scores_[y], 700.0)));
  double largest = std::max(wrong * (1.0 - wrong), Evidence::kLeastCurvature);
  for (std::size_t c = 0; c < classes_; ++c)
    largest = std::max(largest, wrong * shares_[c] * (1.0 - wrong * shares_[c]));
  return largest;
}

// P and C of every feature of the row with this row's share.
void SoftmaxLearner::gather_evidence(float v, const float* values, std::size_t hashed) {
  const std::size_t kept = beside_.size();
  for (std::size_t i = 0; i < kept; ++i) {
    const Evidence& known = kept_.evidence(rows_found_[i]);
    scaled_[i] = known.scaled;
    counts_[i] = known.count;
  }
  std::size_t entries =
      row_steps().meet(beside_values_.data(), kept, v, true, scaled_.data(), counts_.data(), nullptr, terms_.data());
  for (std::size_t i = 0; i < kept; ++i) kept_.evidence(rows_found_[i]) = {scaled_[i], counts_[i]};
  entries += class_steps().meet(shared_by(hashed), values, sketched_.data(), sketched_.size(), v, shared_counts_.data(),
                                factors_.data());
  if (means_.on()) use_units(values);
  intercept_evidence_ += v;
  prior_.entries += 1.0 + static_cast<double>(entries);
}

// Steps and claims of every feature; the sum of r x^2.
double SoftmaxLearner::find_rates() {
  const std::size_t kept = beside_.size();
  const float known = prior();
  row_steps().rate(beside_values_.data(), kept, known, scaled_.data(), counts_.data(), steps_.data(), terms_.data());
  class_steps().sizes(kept, known, scaled_.data(), counts_.data(), sizes_.data());
  class_steps().rate(sketched_.size(), known, shared_counts_.data(), factors_.data(), other_terms_.data(),
                     statures_.data());
  return row_steps().sum(terms_.data(), kept) + row_steps().sum(other_terms_.data(), sketched_.size());
}

// A step for y, and what the other classes pay for it.
void SoftmaxLearner::spend(std::size_t y, double step, std::vector<float>& steps) const {
  for (std::size_t c = 0; c < classes_; ++c) steps[c] = static_cast<float>(c == y ? step : -step * shares_[c]);
}

// Weights, and in above_ and estimates_ the sketched entries that may become active.
void SoftmaxLearner::move(std::size_t hashed) {
  class_lanes().step(kept_rows(), steps_.data(), active_step_.data(), other_step_.data());
  if (options_.exact)
    step_sketched(hashed);
  else
    add_to_estimated(hashed);
}

void SoftmaxLearner::step_sketched(std::size_t hashed) {
  constexpr std::size_t kSome = 256;  // entries that estimates have room for at once
  const std::size_t lanes = sketch_.lanes();
  std::size_t found = 0;
  for (std::size_t i = 0; i < sketched_.size(); i += kSome) {
    const std::size_t count = std::min(kSome, sketched_.size() - i);
    const ClassStep by{factors_.data() + i, other_step_.data(), statures_.data() + i, thresholds_.data()};
    estimates_.set_size(found * lanes);
    estimates_.make_room((count + 1) * lanes);
    const std::size_t more = sketch_.kernels().step(sketch_.rows(hashed_, hashed), sketched_.data() + i, count, by,
                                                    above_.data() + found, estimates_.data() + found * lanes);
    for (std::size_t at = found; at < found + more; ++at) above_[at] += static_cast<std::uint32_t>(i);
    found += more;
  }
  above_.set_size(found);
}

// What was estimated before the step follows it.
void SoftmaxLearner::add_to_estimated(std::size_t hashed) {
  const std::size_t lanes = sketch_.lanes();
  sketch_.kernels().add(sketch_.rows(hashed_, hashed), sketched_.data(), sketched_.size(), factors_.data(),
                        other_step_.data(), estimates_.data());
  above_.clear();
  if (options_.k == 0) return;
  for (std::size_t i = 0; i < sketched_.size(); ++i) {
    const float* weights = estimates_.data() + i * lanes;
    if (!class_lanes().any_above(weights, thresholds_.data(), lanes)) continue;
    std::copy_n(weights, lanes, estimates_.data() + above_.size() * lanes);
    above_.push_back(static_cast<std::uint32_t>(i));
  }
}

void SoftmaxLearner::shrink(double factor) {
  scale_ *= factor;
  if (scale_ >= kSmallestFloatScale) return;
  sketch_.scale(scale_);
  kept_.scale_weights(scale_);
  for (float& threshold : thresholds_) threshold = static_cast<float>(threshold * scale_);
  scale_ = 1.0;
}

// As in learn/newton.cpp; here a threshold holds the fourth root of the evidence.
void SoftmaxLearner::fade() {
  fading_ *= options_.forget;
  if (fading_ > Evidence::kFadedEnough) return;
  kept_.fade(fading_);
  const auto factor = static_cast<float>(fading_);
  for (float& count : shared_) count *= factor;
  intercept_evidence_ *= fading_;
  for (float& threshold : thresholds_) threshold *= std::sqrt(std::sqrt(factor));
  fading_ = 1.0;
}

LimitExceeded SoftmaxLearner::too_big() const {
  return LimitExceeded("the active features of " + std::to_string(classes_) +
                       " classes do not fit into --memory\nraise --memory or lower --k");
}

}  // namespace fsstream

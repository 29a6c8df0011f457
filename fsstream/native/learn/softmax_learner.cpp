#include "learn/softmax_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "learn/flow.hpp"
#include "learn/lane_kernels.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kRun = 1024;  // entries hashed at once
constexpr double kOutOfRange = 1e30;
constexpr double kSmallestScale = 1e-9;
const Loss kLogistic(Loss::Kind::kLogistic);
constexpr float kNoClass = std::numeric_limits<float>::infinity();

}  // namespace

SoftmaxLearner::SoftmaxLearner(const SoftmaxOptions& options, std::size_t classes)
    : options_(options),
      sketch_(options.depth, options.width, options.seed, ClassSketch::lanes_for(std::max<std::size_t>(classes, 2))),
      kept_(std::max<std::size_t>(4 * options.k, 8), sketch_.lanes()),
      cells_(options.adaptive ? options.width : 0) {
  make_lanes(sketch_.lanes());
  meet_classes(classes);
}

std::size_t SoftmaxLearner::bytes() const {
  return sketch_.bytes() + kept_.bytes() + cells_.capacity() * sizeof(Evidence);
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
  candidates_.resize(classes);
}

// Two cells of evidence become one: the larger is an upper bound of what a feature of either has.
void SoftmaxLearner::fold() {
  sketch_.fold();
  if (cells_.empty()) return;
  const std::size_t width = sketch_.width();
  for (std::size_t i = 0; i < width; ++i)
    if (cells_[i + width].count > cells_[i].count) cells_[i] = cells_[i + width];
  cells_.resize(width);
}

float SoftmaxLearner::stature_of(const Evidence& evidence) const {
  return static_cast<float>(std::sqrt(std::sqrt(static_cast<double>(evidence.count) + prior())));
}

void SoftmaxLearner::update(const Batch& batch, float* scores) {
  const std::size_t outputs = classes_with(batch);
  for (std::size_t row = 0; row < batch.rows();) {
    const std::size_t first = batch.row_begin(row);
    std::size_t end = row + 1;
    while (end < batch.rows() && batch.row_end(end) - first <= kRun) ++end;
    // The width a place is masked by may shrink on the way: to the low bits of the same word.
    sketch_.hash(batch.keys.data() + first, batch.row_begin(end) - first, hashed_);
    for (std::size_t width = sketch_.width(); row < end; ++row) {
      meet_classes(static_cast<std::size_t>(batch.targets[row]) + 1);
      if (sketch_.width() != width) break;
      float* out = scores + row * outputs;
      std::fill_n(out, outputs, -kNoClass);
      learn(batch, row, batch.row_begin(row) - first, out);
    }
  }
  if (bytes() > options_.memory) throw too_big();
}

void SoftmaxLearner::predict(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows();) {
    const std::size_t first = batch.row_begin(row);
    std::size_t end = row + 1;
    while (end < batch.rows() && batch.row_end(end) - first <= kRun) ++end;
    sketch_.hash(batch.keys.data() + first, batch.row_begin(end) - first, hashed_);
    for (; row < end; ++row, scores += classes_) {
      const std::size_t begin = batch.row_begin(row);
      look_up(batch, begin, batch.row_end(row) - begin, begin - first);
      find_scores(batch.values.data() + begin);
      std::transform(scores_.begin(), scores_.begin() + static_cast<std::ptrdiff_t>(classes_), scores,
                     [](double score) { return static_cast<float>(score); });
    }
  }
}

void SoftmaxLearner::learn(const Batch& batch, std::size_t row, std::size_t hashed, float* scores) {
  const std::size_t first = batch.row_begin(row);
  const std::size_t size = batch.row_end(row) - first;
  const float* values = batch.values.data() + first;
  const auto y = static_cast<std::size_t>(batch.targets[row]);
  const double h = batch.importance[row];
  look_up(batch, first, size, hashed);
  find_scores(values);
  for (std::size_t c = 0; c < classes_; ++c) {
    scores[c] = static_cast<float>(scores_[c]);
    if (!(std::fabs(scores_[c]) <= kOutOfRange))
      throw Diverged("the weights diverged at row " + std::to_string(rows_ + 1) +
                     "\nlower --learning-rate, or scale the rows (--normalize l2)");
  }
  ++rows_;
  find_shares(y);
  progressive_weight_ += h;
  if (classes_ > 1) progressive_loss_ += h * kLogistic.value(scores_[y], 1.0);
  const double keep = (1.0 - options_.learning_rate * options_.l2) * options_.forget;
  if (keep < 1.0 && !options_.adaptive) shrink(keep);
  if (options_.forget < 1.0 && options_.adaptive) fade();
  const double rate0 = options_.adaptive ? adaptive_steps(y, h) : constant_steps(y, h, values);
  if (h <= 0.0 || classes_ < 2) return;
  if (options_.intercept)
    for (std::size_t c = 0; c < classes_; ++c) intercepts_[c] += static_cast<double>(active_step_[c]) * rate0;
  move(values, hashed);
  if (options_.k != 0) admit(batch, first, hashed);
}

void SoftmaxLearner::look_up(const Batch& batch, std::size_t first, std::size_t size, std::size_t hashed) {
  const std::uint32_t* homes = hashed_.column(static_cast<std::size_t>(sketch_.depth())) + hashed;
  const std::uint32_t* places = hashed_.column(0) + hashed;
  const auto mask = static_cast<std::uint32_t>(sketch_.width() - 1);
  const bool check = kept_.names().must_check(batch);
  entries_.resize(size);
  for (Buffer<std::uint32_t>* list : {&rows_found_, &beside_, &sketched_}) list->reserve(size + kSlack);
  const std::size_t kept =
      kept_.split(batch.keys.data() + first, homes, size, rows_found_.data(), beside_.data(), sketched_.data());
  beside_.set_size(kept);
  sketched_.set_size(size - kept);
  for (const std::uint32_t j : sketched_) entries_[j].row = ClassFeatures::kNone;
  for (std::size_t i = 0; i < kept; ++i) {
    entries_[beside_[i]].row = rows_found_[i];
    if (check) kept_.names().check_name(kept_.slot(rows_found_[i], homes[beside_[i]]), batch, first + beside_[i]);
  }
  for (std::size_t j = 0; j < size; ++j) {
    entries_[j].cell = places[j] & mask;
    entries_[j].square = Evidence::square_of(batch.values[first + j]);
    if (options_.adaptive) __builtin_prefetch(cells_.data() + entries_[j].cell);
  }
  if (!options_.exact) {
    beside_.clear();
    sketched_.set_size(size);
    std::iota(sketched_.begin(), sketched_.end(), 0U);
  }
  estimates_.reserve(sketched_.size() * sketch_.lanes());
  factors_.reserve(sketched_.size());
  sketch_.kernels().estimate(sketch_.rows(hashed_, hashed), sketched_.data(), sketched_.size(), estimates_.data());
}

void SoftmaxLearner::find_scores(const float* values) {
  const std::size_t lanes = sketch_.lanes();
  std::fill(scores_.begin(), scores_.end(), 0.0);
  for (const std::uint32_t j : beside_)
    lane_kernels().score_on(kept_.weights(entries_[j].row), kept_.on(entries_[j].row), values[j], lanes,
                            scores_.data());
  if (!options_.exact)
    for (std::size_t i = 0; i < sketched_.size(); ++i)
      lane_kernels().score_above(estimates_.data() + i * lanes, thresholds_.data(), values[sketched_[i]], lanes,
                                 scores_.data());
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
  squares_ += dot(values, values, entries_.size());
  entries_seen_ += static_cast<double>(entries_.size());
  for (Entry& entry : entries_) entry.rate = entry.unit = entry.stature = 1.0F;
  const double step = classes_ < 2 ? 0.0 : options_.learning_rate * h * -kLogistic.slope(scores_[y], 1.0) / scale_;
  spend(y, step, active_step_);
  other_step_ = active_step_;
  return scale_ * (squares_ > 0.0 ? squares_ / entries_seen_ : 1.0);
}

double SoftmaxLearner::adaptive_steps(std::size_t y, double h) {
  if (h <= 0.0) {
    spread_ += 1.0;
    return 0.0;
  }
  const double wrong = classes_ < 2 ? 0.0 : 1.0 / (1.0 + fsstream::exp(std::min(scores_[y], 700.0)));
  double curvature = std::max(wrong * (1.0 - wrong), Evidence::kLeastCurvature);
  for (std::size_t c = 0; c < classes_; ++c)
    curvature = std::max(curvature, wrong * shares_[c] * (1.0 - wrong * shares_[c]));
  gather_evidence(h * curvature);
  find_rates();
  const double rate0 = options_.intercept ? 1.0 / (intercept_evidence_ + prior()) : 0.0;
  if (classes_ < 2) return rate0;

  double all = rate0;
  for (const Entry& entry : entries_) all += static_cast<double>(entry.rate) * entry.square;
  std::fill(pulls_.begin(), pulls_.end(), rate0);
  for (const std::uint32_t j : beside_)
    lane_kernels().pull_on(kept_.on(entries_[j].row), static_cast<double>(entries_[j].rate) * entries_[j].square,
                           sketch_.lanes(), pulls_.data());
  double active = pulls_[y];
  double other = all;
  for (std::size_t c = 0; c < classes_; ++c) {
    active += shares_[c] * shares_[c] * pulls_[c];
    other += shares_[c] * shares_[c] * all;
  }
  const RowLoss row(kLogistic, scores_[y], 1.0);
  const auto spent = [&](double q) { return q > 0.0 ? row.flow(h * q) / q : 0.0; };
  spend(y, spent(active), active_step_);
  spend(y, spent(other), other_step_);
  return rate0;
}

// A step for y, and what the other classes pay for it.
void SoftmaxLearner::spend(std::size_t y, double step, std::vector<float>& steps) const {
  for (std::size_t c = 0; c < classes_; ++c) steps[c] = static_cast<float>(c == y ? step : -step * shares_[c]);
}

void SoftmaxLearner::gather_evidence(double v) {
  double spread = 1.0;
  std::size_t i = 0;  // among the sketched
  for (Entry& entry : entries_) {
    const bool kept = entry.row != ClassFeatures::kNone;
    const std::size_t at = kept ? 0 : i++;
    if (entry.square == 0.0F) continue;
    Evidence& known = kept ? kept_.evidence(entry.row) : cells_[entry.cell];
    if (known.meet(entry.square, v, kept)) std::fill_n(estimates_.data() + at * sketch_.lanes(), sketch_.lanes(), 0.0F);
    entry.evidence = known;
    spread += static_cast<double>(entry.square) * known.count / known.scaled;
  }
  intercept_evidence_ += v;
  spread_ += spread;
}

void SoftmaxLearner::find_rates() {
  for (Entry& entry : entries_) {
    const bool there = entry.square != 0.0F;
    entry.rate = there ? static_cast<float>(entry.evidence.rate(prior())) : 0.0F;
    entry.unit = there ? static_cast<float>(entry.evidence.unit()) : 1.0F;
    entry.stature = there ? stature_of(entry.evidence) : 0.0F;
  }
}

void SoftmaxLearner::move(const float* values, std::size_t hashed) {
  const std::size_t lanes = sketch_.lanes();
  for (const std::uint32_t j : beside_)
    lane_kernels().step(kept_.weights(entries_[j].row), kept_.on(entries_[j].row), entries_[j].rate * values[j],
                        active_step_.data(), other_step_.data(), lanes);
  for (std::size_t i = 0; i < sketched_.size(); ++i) {
    const Entry& entry = entries_[sketched_[i]];
    factors_[i] = entry.rate * values[sketched_[i]] * entry.unit;
  }
  sketch_.kernels().add(sketch_.rows(hashed_, hashed), sketched_.data(), sketched_.size(), factors_.data(),
                        other_step_.data(), estimates_.data());
}

void SoftmaxLearner::shrink(double factor) {
  scale_ *= factor;
  if (scale_ >= kSmallestScale) return;
  sketch_.scale(scale_);
  kept_.scale_weights(scale_);
  for (float& threshold : thresholds_) threshold = static_cast<float>(threshold * scale_);
  scale_ = 1.0;
}

// As in learn/newton.cpp; here a threshold holds the fourth root of the evidence.
void SoftmaxLearner::fade() {
  constexpr double kWorthwhile = 0.9;
  fading_ *= options_.forget;
  if (fading_ > kWorthwhile) return;
  kept_.fade(fading_);
  const auto factor = static_cast<float>(fading_);
  for (Evidence& cell : cells_) cell.fade(factor);
  intercept_evidence_ *= fading_;
  for (float& threshold : thresholds_) threshold *= std::sqrt(std::sqrt(factor));
  fading_ = 1.0;
}

LimitExceeded SoftmaxLearner::too_big() const {
  return LimitExceeded("the active features of " + std::to_string(classes_) +
                       " classes do not fit into --memory\nraise --memory or lower --k");
}

}  // namespace fsstream

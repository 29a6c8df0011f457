#include "learn/softmax_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "core/multiversion.hpp"
#include "learn/flow.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kRun = 1024;  // entries hashed at once
constexpr double kOutOfRange = 1e30;
constexpr double kSmallestScale = 1e-9;
constexpr float kSeedEvidence = 4.0F;  // rows that an earlier model's weight counts for
const Loss kLogistic(Loss::Kind::kLogistic);
constexpr float kNoClass = std::numeric_limits<float>::infinity();

inline float magnitude(float x) { return x < 0 ? -x : x; }

// sums += x w where the class is on.
inline void score_on(const float* weights, const std::uint8_t* on, double x, std::size_t lanes, double* sums) {
  for (std::size_t c = 0; c < lanes; ++c) sums[c] += on[c] != 0 ? static_cast<double>(weights[c]) * x : 0.0;
}

// sums += x w where |w| exceeds the class's threshold.
inline void score_above(const float* weights, const float* thresholds, double x, std::size_t lanes, double* sums) {
  for (std::size_t c = 0; c < lanes; ++c)
    sums[c] += magnitude(weights[c]) > thresholds[c] ? static_cast<double>(weights[c]) * x : 0.0;
}

inline void pull_on(const std::uint8_t* on, double pull, std::size_t lanes, double* pulls) {
  for (std::size_t c = 0; c < lanes; ++c) pulls[c] += on[c] != 0 ? pull : 0.0;
}

inline void step_beside(float* weights, const std::uint8_t* on, float factor, const float* active, const float* other,
                        std::size_t lanes) {
  for (std::size_t c = 0; c < lanes; ++c) weights[c] += factor * (on[c] != 0 ? active[c] : other[c]);
}

// Whether a weight exceeds the threshold of a class where the feature is not on.
inline bool any_above(const float* weights, const std::uint8_t* on, const float* thresholds, float stature,
                      std::size_t lanes) {
  unsigned above = 0;
  for (std::size_t c = 0; c < lanes; ++c)
    above |= static_cast<unsigned>(magnitude(weights[c]) * stature > thresholds[c]) & static_cast<unsigned>(on[c] == 0);
  return above != 0;
}

struct LaneKernels {
  decltype(&score_on) on = Compiled<&score_on>::best();
  decltype(&score_above) above = Compiled<&score_above>::best();
  decltype(&pull_on) pull = Compiled<&pull_on>::best();
  decltype(&step_beside) step = Compiled<&step_beside>::best();
  decltype(&any_above) any = Compiled<&any_above>::best();
};

const LaneKernels& lane_kernels() {
  static const LaneKernels kernels;
  return kernels;
}

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
  off_.resize(lanes);
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
    lane_kernels().on(kept_.weights(entries_[j].row), kept_.on(entries_[j].row), values[j], lanes, scores_.data());
  if (!options_.exact)
    for (std::size_t i = 0; i < sketched_.size(); ++i)
      lane_kernels().above(estimates_.data() + i * lanes, thresholds_.data(), values[sketched_[i]], lanes,
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
    lane_kernels().pull(kept_.on(entries_[j].row), static_cast<double>(entries_[j].rate) * entries_[j].square,
                        sketch_.lanes(), pulls_.data());
  double active = pulls_[y];
  double other = all;
  for (std::size_t c = 0; c < classes_; ++c) {
    active += shares_[c] * shares_[c] * pulls_[c];
    other += shares_[c] * shares_[c] * all;
  }
  const auto spent = [&](double q) { return q > 0.0 ? flow(kLogistic, scores_[y], 1.0, h * q) / q : 0.0; };
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

void SoftmaxLearner::admit(const Batch& batch, std::size_t first, std::size_t hashed) {
  const std::size_t lanes = sketch_.lanes();
  const std::uint32_t* homes = hashed_.column(static_cast<std::size_t>(sketch_.depth())) + hashed;
  if (kept_.size() + sketched_.size() >= kept_.capacity()) {
    make_room(sketched_.size());
    for (std::size_t j = 0; j < entries_.size(); ++j) entries_[j].row = kept_.find(batch.keys[first + j], homes[j]);
  }
  const auto is_candidate = [&](const Entry& entry, const float* weights, float stature) {
    const std::uint8_t* on = entry.row == ClassFeatures::kNone ? off_.data() : kept_.on(entry.row);
    return lane_kernels().any(weights, on, thresholds_.data(), stature, lanes);
  };
  for (const std::uint32_t j : beside_) {
    const Entry& entry = entries_[j];
    if (entry.row == ClassFeatures::kNone) continue;  // it was idle and has left to make room
    const float stature = entry.stature * entry.unit;
    if (is_candidate(entry, kept_.weights(entry.row), stature)) turn_on(entry.row, kept_.weights(entry.row), stature);
  }
  for (std::size_t i = 0; i < sketched_.size(); ++i) {
    const std::uint32_t j = sketched_[i];
    Entry& entry = entries_[j];
    const float* weights = estimates_.data() + i * lanes;
    if (!is_candidate(entry, weights, entry.stature)) continue;
    const Key key = batch.keys[first + j];
    entry.row = kept_.find(key, homes[j]);
    if (entry.row == ClassFeatures::kNone) {
      entry.row = kept_.add(key, homes[j], kept_.names().add_name(batch, first + j));
      kept_.evidence(entry.row) = entry.evidence;
      for (std::size_t c = 0; options_.exact && c < classes_; ++c)
        kept_.weights(entry.row)[c] = weights[c] / entry.unit;
    }
    turn_on(entry.row, weights, entry.stature);
  }
}

// Where its claim exceeds the class's threshold; every turn may change a threshold.
void SoftmaxLearner::turn_on(Row row, const float* weights, float stature) {
  for (std::size_t c = 0; c < classes_; ++c) {
    if (kept_.is_on(row, c) || !(magnitude(weights[c]) * stature > thresholds_[c])) continue;
    kept_.turn_on(row, c);
    if (++candidates_[c] >= 2 * options_.k) prune(c);
  }
}

// What the sketch says of a key's weights, in asked_estimates_.
void SoftmaxLearner::ask(Key key) {
  constexpr std::uint32_t kOnly = 0;
  sketch_.hash(&key, 1, asked_);
  sketch_.kernels().estimate(sketch_.rows(asked_, 0), &kOnly, 1, asked_estimates_.data());
}

// Adds asked_step_ to the key that was asked for.
void SoftmaxLearner::tell() {
  constexpr std::uint32_t kOnly = 0;
  constexpr float kWhole = 1.0F;
  sketch_.kernels().add(sketch_.rows(asked_, 0), &kOnly, 1, &kWhole, asked_step_.data(), asked_estimates_.data());
}

float SoftmaxLearner::stored_weight(Row row, std::size_t c) {
  if (options_.exact) return kept_.weights(row)[c];
  ask(kept_.key(row));
  return asked_estimates_[c];
}

float SoftmaxLearner::claim(Row row, float weight) const {
  if (!options_.adaptive) return magnitude(weight);
  const Evidence& known = kept_.evidence(row);
  return magnitude(weight) * static_cast<float>(known.unit()) * stature_of(known);
}

// The k best claims to class c stay; the weakest of them is the threshold from now on.
void SoftmaxLearner::prune(std::size_t c) {
  std::vector<ActiveSet::Entry> all;
  for (Row row = 0; row < kept_.size(); ++row)
    if (kept_.is_on(row, c)) all.push_back({kept_.key(row), claim(row, stored_weight(row, c)), row});
  const auto weakest = all.begin() + static_cast<std::ptrdiff_t>(options_.k) - 1;
  std::nth_element(all.begin(), weakest, all.end(), ActiveSet::better);
  thresholds_[c] = weakest->weight;
  for (auto left = weakest + 1; left != all.end(); ++left) kept_.turn_off(left->slot, c);
  candidates_[c] = options_.k;
  ++prunes_;
}

// Idle features leave; when that is not enough, the tables grow.
void SoftmaxLearner::make_room(std::size_t more) {
  std::vector<std::pair<Key, Row>> idle;
  for (Row row = 0; row < kept_.size(); ++row)
    if (kept_.idle(row)) idle.emplace_back(kept_.key(row), row);
  std::sort(idle.begin(), idle.end());
  if (options_.exact)
    for (const auto& [key, row] : idle) hand_over(row);
  const std::size_t staying = kept_.size() - idle.size();
  std::size_t capacity = kept_.capacity();
  if (2 * (staying + more) > capacity) capacity = 2 * (staying + 2 * more);
  if (sketch_.bytes() + ClassFeatures::bytes_of(capacity, sketch_.lanes()) > options_.memory) throw too_big();
  kept_.compact(capacity, [this](Key key) { return sketch_.home(key); });
}

// The sketch gets what it does not know of the weights, so that asking gives them back.
void SoftmaxLearner::hand_over(Row row) {
  const Evidence& known = kept_.evidence(row);
  const auto unit = static_cast<float>(options_.adaptive ? known.unit() : 1.0);
  ask(kept_.key(row));
  for (std::size_t c = 0; c < sketch_.lanes(); ++c) asked_step_[c] = kept_.weights(row)[c] * unit - asked_estimates_[c];
  tell();
  if (!options_.adaptive) return;
  Evidence& cell = cells_[asked_.column(0)[0] & static_cast<std::uint32_t>(sketch_.width() - 1)];
  if (known.count > cell.count) cell = known;
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

void SoftmaxLearner::seed(Key key, const std::string& name, std::size_t c, float weight) {
  meet_classes(c + 1);
  if (kept_.size() + 1 >= kept_.capacity()) make_room(1);
  const std::uint32_t home = sketch_.home(key);
  Row row = kept_.find(key, home);
  if (row == ClassFeatures::kNone) {
    row = kept_.add(key, home, kept_.names().add_name(name, key));
    kept_.evidence(row) = {0.0F, kSeedEvidence};
  }
  const auto stored = static_cast<float>(weight / scale_);
  kept_.weights(row)[c] = stored;
  if (!options_.exact) {
    ask(key);
    std::fill(asked_step_.begin(), asked_step_.end(), 0.0F);
    asked_step_[c] = stored - asked_estimates_[c];
    tell();
  }
  if (kept_.is_on(row, c)) return;
  kept_.turn_on(row, c);
  if (++candidates_[c] >= 2 * options_.k) prune(c);
}

std::vector<SoftmaxLearner::Chosen> SoftmaxLearner::top() {
  struct Candidate {
    float claim;
    float weight;
    std::string name;
  };
  std::vector<Chosen> chosen;
  for (std::size_t c = 0; c < classes_; ++c) {
    std::vector<Candidate> all;
    for (Row row = 0; row < kept_.size(); ++row) {
      if (!kept_.is_on(row, c)) continue;
      const float stored = stored_weight(row, c);
      const auto weight = static_cast<float>(stored * scale_);
      if (weight == 0.0F) continue;
      if (!std::isfinite(weight)) throw Diverged("the weights left the range of numbers\nscale the rows");
      all.push_back({claim(row, stored), weight, kept_.name(row, sketch_.home(kept_.key(row)))});
    }
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.claim != b.claim ? a.claim > b.claim : a.name < b.name;
    });
    if (all.size() > options_.k) all.resize(options_.k);
    for (Candidate& best : all) chosen.push_back({static_cast<std::uint32_t>(c), best.weight, std::move(best.name)});
  }
  return chosen;
}

std::pair<double, double> SoftmaxLearner::take_progress() {
  const std::pair<double, double> progress{progressive_loss_, progressive_weight_};
  progressive_loss_ = progressive_weight_ = 0.0;
  return progress;
}

void SoftmaxLearner::save(StateWriter& out) const {
  const double numbers[] = {
      scale_, intercept_evidence_, spread_, squares_, entries_seen_, progressive_loss_, progressive_weight_, fading_};
  const std::uint64_t counts[] = {rows_, prunes_, sketch_.width()};
  out.put("softmax", std::span<const double>(numbers));
  out.put("rows", std::span<const std::uint64_t>(counts));
  out.put("intercepts", std::span<const double>(intercepts_));
  out.put("thresholds", std::span<const float>(thresholds_.data(), classes_));
  out.put("sketch", sketch_.cells());
  const auto* cells = reinterpret_cast<const float*>(cells_.data());
  out.put("evidence_cells", std::span<const float>(cells, 2 * cells_.size()));
  kept_.save(out);
}

void SoftmaxLearner::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("softmax"), 8, "softmax");
  const auto counts = of_size(in.words("rows"), 3, "rows");
  const auto intercepts = in.doubles("intercepts");
  meet_classes(intercepts.size());
  while (sketch_.width() > counts[2] && sketch_.width() > 2) fold();
  const auto sketch = of_size(in.floats("sketch"), sketch_.cells().size(), "sketch");
  const auto cells = of_size(in.floats("evidence_cells"), 2 * cells_.size(), "evidence_cells");
  const auto thresholds = of_size(in.floats("thresholds"), classes_, "thresholds");
  std::copy(sketch.begin(), sketch.end(), sketch_.cells().begin());
  std::copy(cells.begin(), cells.end(), reinterpret_cast<float*>(cells_.data()));
  std::copy(thresholds.begin(), thresholds.end(), thresholds_.begin());
  std::copy(intercepts.begin(), intercepts.end(), intercepts_.begin());
  kept_.load(in, [this](Key key) { return sketch_.home(key); });
  for (std::size_t c = 0; c < classes_; ++c) {
    candidates_[c] = 0;
    for (Row row = 0; row < kept_.size(); ++row) candidates_[c] += kept_.is_on(row, c) ? 1 : 0;
  }
  scale_ = numbers[0];
  intercept_evidence_ = numbers[1];
  spread_ = numbers[2];
  squares_ = numbers[3];
  entries_seen_ = numbers[4];
  progressive_loss_ = numbers[5];
  progressive_weight_ = numbers[6];
  fading_ = numbers[7];
  rows_ = counts[0];
  prunes_ = counts[1];
}

}  // namespace fsstream

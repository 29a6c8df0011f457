#include "learn/newton.hpp"

#include <algorithm>
#include <cmath>

#include "core/ask.hpp"
#include "core/dot.hpp"
#include "core/errors.hpp"
#include "learn/flow.hpp"
#include "learn/row_runs.hpp"
#include "sketch/warm_up.hpp"

namespace fsstream {

namespace {

constexpr std::uint32_t kNumbers = 3;    // w, P and C of an active feature
constexpr std::uint32_t kStride = 4;     // which is how far they lie apart
constexpr double kInterceptPrior = 1.0;  // at most: L is of features, each of which is in some rows only
constexpr std::size_t kAhead = 16;       // entries whose blocks are asked for before they are needed

double fourth_power(double x) { return x * x * x * x; }

}  // namespace

Newton::Newton(Loss loss, BlockSketch sketch, std::size_t k, bool intercept, std::size_t memory, double forget,
               std::size_t room)
    : loss_(loss),
      sketch_(std::move(sketch)),
      k_(k),
      with_intercept_(intercept),
      memory_(memory),
      active_(2 * k, kNumbers),
      scale_(loss),
      calibration_(loss, intercept),
      trust_(loss),
      forget_(forget),
      means_(intercept, memory / ColumnMeans::kShareOfMemory),
      kept_(room),
      left_(room > 0 ? k : 1) {}

// The refit takes as much again as the rows.
std::size_t Newton::bytes() const {
  return sketch_.bytes() + active_.bytes() + means_.bytes() + (kept_.whole() ? left_.bytes() + 2 * kept_.bytes() : 0);
}

void Newton::set(std::uint32_t slot, float weight, const Evidence& known) {
  float* numbers = active_.numbers(slot);
  numbers[0] = weight;
  numbers[1] = known.scaled;
  numbers[2] = known.count;
}

// The claim to be active, to the fourth power: without roots.
double Newton::claim(double contribution, const Evidence& evidence) const {
  return fourth_power(contribution) * (static_cast<double>(evidence.count) + prior());
}

double Newton::claim_of(std::uint32_t slot, float weight) const {
  const Evidence known = evidence_of(slot);
  return claim(weight * known.unit(), known);
}

void Newton::update(const Batch& batch, float* scores) {
  std::size_t row = 0;
  for (; row < batch.rows() && means_.on(); ++row) scores[row] = static_cast<float>(learn_centred(batch, row));
  while (row < batch.rows()) row = learn_run(batch, row, scores);
  keep(batch);
  if (bytes() > memory_)
    throw LimitExceeded("the names of the active features do not fit into --memory\nraise --memory or lower --k");
}

// Rows that are hashed at once, from this one on; returns the one behind them.
std::size_t Newton::learn_run(const Batch& batch, std::size_t row, float* scores) {
  const std::size_t first = batch.row_begin(row);
  const auto [end, longest] = run_from(batch, row);
  const std::size_t entries = batch.row_begin(end) - first;
  sketch_.hash(batch.keys.data() + first, entries, hashed_);
  warm_up_run(batch, first, entries);
  slots_of_run_.look_up(active_, {batch.keys.data() + first, sketch_.rows(hashed_, 0)}, entries);
  make_room(longest);
  for (; row < end; ++row) {
    const std::size_t begin = batch.row_begin(row);
    const Row at{batch.keys.data() + begin,
                 batch.values.data() + begin,
                 batch.row_end(row) - begin,
                 begin - first,
                 begin,
                 nullptr};
    scores[row] = static_cast<float>(learn(batch, at, batch.targets[row], batch.importance[row]));
  }
  return end;
}

void Newton::keep(const Batch& batch) {
  refit_.reset();
  if (repeats_ || !kept_.whole()) return;
  kept_.add(batch);
  if (!kept_.whole()) remember({});
}

void Newton::make_room(std::size_t longest) {
  const std::size_t room = longest + 2 * kSlack;  // the others begin on a lane of their own
  for (Buffer<std::uint32_t>* list : {&slots_, &present_, &absent_}) list->reserve(room);
  for (Buffer<float>* column :
       {&active_values_, &other_values_, &weights_, &scaled_, &counts_, &estimates_, &steps_, &terms_})
    column->reserve(room);
  claims_.reserve(room);
  others_hashed_.resize(2, room);
}

double Newton::learn(const Batch& batch, const Row& row, double target, double importance) {
  if (forget_ < 1.0) fade();
  const double sum = look_up(batch, row);
  const bool asked = !repeats_ && trust_.asks(rows_ + 1);
  const Trust::Parts parts = asked ? parts_of(sum) : Trust::Parts{};
  const double score = intercept_ + scale_.value * sum;
  if (!std::isfinite(score))
    throw Diverged(
        "the weights left the range of numbers\nscale the rows (--normalize l2) or leave out columns of huge numbers",
        rows_ + 1);
  const RowLoss loss(loss_, score, target);
  progress_.add(loss.value(), importance);
  prior_.meet(loss_, loss.value(), target, importance);
  ++rows_;
  if (!repeats_) calibration_.meet(score, target, importance, rows_);
  if (asked) trust_.meet(parts, loss, importance, rows_);
  if (importance <= 0.0) {
    prior_.entries += 1.0;
    return score;
  }
  gather_evidence(importance * std::max(loss.curvature(), Evidence::kLeastCurvature), sum);
  move(loss, importance, sum);
  admit(batch, row);
  return score;
}

// Tells active features from others, which follow them in the row's columns; the sum of w x over the active ones.
double Newton::look_up(const Batch& batch, const Row& row) {
  const PartedRow parts{slots_.data(),        present_.data(),          active_values_.data(),   absent_.data(),
                        other_values_.data(), others_hashed_.column(0), others_hashed_.column(1)};
  actives_ = slots_of_run_.part_row(row.hashed, row.size, row.values, parts);
  others_ = row.size - actives_;
  others_at_ = whole_lanes(actives_);
  std::fill_n(active_values_.data() + actives_, kSlack, 0.0F);
  std::fill_n(other_values_.data() + others_, kSlack, 0.0F);
  active_.check_names(batch, [&](auto visit) {
    for (std::size_t i = 0; i < actives_; ++i)
      if (const std::size_t source = row.source(present_[i]); source != ColumnMeans::kNowhere) visit(slots_[i], source);
  });
  read_numbers();
  return dot(weights_.data(), active_values_.data(), actives_);
}

// w, P and C of the row's active features, side by side. What meets a value far beyond its unit so far was learned
// from others: its weight is taken for one in the unit that this value speaks of.
void Newton::read_numbers() {
  const float* table = active_.weights();
  const std::uint32_t* slots = slots_.data();
  float* __restrict weights = weights_.data();
  float* __restrict scaled = scaled_.data();
  float* __restrict counts = counts_.data();
  for (std::size_t i = 0; i < actives_; ++i) {
    const float* numbers = table + std::size_t{slots[i]} * kStride;
    weights[i] = numbers[0];
    scaled[i] = numbers[1];
    counts[i] = numbers[2];
  }
  const float far = farthest();
  for (std::size_t i = 0; i < actives_; ++i)
    if (const float share = Evidence{scaled[i], counts[i]}.share_of(active_values_[i], far); share < 1.0F)
      weights[i] *= share;
}

void Newton::write_numbers(float step) {
  float* table = active_.numbers(0);
  const std::uint32_t* slots = slots_.data();
  const float* weights = weights_.data();
  const float* steps = steps_.data();
  const float* scaled = scaled_.data();
  const float* counts = counts_.data();
  for (std::size_t i = 0; i < actives_; ++i) {
    float* __restrict numbers = table + std::size_t{slots[i]} * kStride;
    numbers[0] = weights[i] + step * steps[i];
    numbers[1] = scaled[i];
    numbers[2] = counts[i];
  }
}

// Of the row's sum over active features, what trust asks for.
Trust::Parts Newton::parts_of(double sum) {
  float* doubtful = steps_.data();  // steps and terms have not begun
  float* held_back = terms_.data();
  row_.doubt(weights_.data(), actives_, static_cast<float>(prior()), threshold_, scaled_.data(), counts_.data(),
             doubtful, held_back);
  const double scale = scale_.value;
  return {scale * sum, scale * dot(doubtful, active_values_.data(), actives_),
          scale * dot(held_back, active_values_.data(), actives_)};
}

// P and C of every feature of the row with this row's share, what the sketch says of the others, and how many
// entries count. Nothing is changed before all is read.
void Newton::gather_evidence(double row_evidence, double sum) {
  const auto v = static_cast<float>(row_evidence * scale_.value * scale_.value);
  const std::size_t at = others_at_;
  const bool unshared = load_ == 0.0F;
  const BlockRows rows = sketch_.rows(others_hashed_, 0);
  sketch_.kernels().estimate_and_pairs(rows, others_, estimates_.data() + at, scaled_.data() + at, counts_.data() + at);
  if (means_.on()) forget_units();
  const std::size_t entries = row_.meet(active_values_.data(), actives_, v, true, scaled_.data(), counts_.data(),
                                        estimates_.data(), terms_.data()) +
                              row_.meet(other_values_.data(), others_, v, unshared, scaled_.data() + at,
                                        counts_.data() + at, estimates_.data() + at, terms_.data() + at);
  if (means_.on()) use_units();
  intercept_evidence_ += row_evidence;
  if (!repeats_) scale_.meet(sum, row_evidence);
  prior_.entries += 1.0 + static_cast<double>(entries);
}

void Newton::move(const RowLoss& loss, double h, double sum) {
  const double prior_evidence = prior();
  const auto prior_count = static_cast<float>(prior_evidence);
  const std::size_t at = others_at_;
  const double rate0 = with_intercept_ ? 1.0 / (intercept_evidence_ + std::min(prior_evidence, kInterceptPrior)) : 0.0;
  row_.rate(active_values_.data(), actives_, prior_count, scaled_.data(), counts_.data(), steps_.data(), terms_.data());
  row_.rate(other_values_.data(), others_, prior_count, scaled_.data() + at, counts_.data() + at, steps_.data() + at,
            terms_.data() + at);
  const double scale = scale_.value;
  const double square = scale * scale;
  const double scale_rate = repeats_ ? 0.0 : scale_.rate();
  const double active_pull = rate0 + scale_rate * sum * sum + square * row_.sum(terms_.data(), actives_);
  const double all_pull = active_pull + square * row_.sum(terms_.data() + at, others_);
  const double active_step = active_pull > 0.0 ? loss.flow(h * active_pull) / active_pull : 0.0;
  const double other_step = all_pull > 0.0 ? loss.flow(h * all_pull) / all_pull : 0.0;
  intercept_ += active_step * rate0;
  scale_.move(active_step * scale_rate * sum);
  write_numbers(static_cast<float>(active_step * scale));
  entering_ =
      row_.claim(others_, static_cast<float>(other_step * scale), prior_count, load_, threshold_, scaled_.data() + at,
                 counts_.data() + at, estimates_.data() + at, steps_.data() + at, claims_.data());
  const BlockRows rows = sketch_.rows(others_hashed_, 0);
  sketch_.kernels().add_and_set_pairs(rows, others_, steps_.data() + at, scaled_.data() + at, counts_.data() + at);
}

void Newton::admit(const Batch& batch, const Row& row) {
  if (entering_ == 0) return;
  const std::size_t next_row = row.hashed + row.size;
  for (std::size_t i = 0; i < others_; ++i) {
    if (claims_[i] <= threshold_) continue;
    const std::size_t entry = absent_[i];
    const std::size_t source = row.source(entry);
    if (source == ColumnMeans::kNowhere) continue;  // without a name: it enters when it is met
    const Key key = row.keys[entry];
    const std::uint32_t home = sketch_.homes(hashed_)[row.hashed + entry];
    if (active_.find(key, home) != ActiveSet::kNone) continue;
    const std::size_t at = others_at_ + i;
    const Evidence known = Evidence{scaled_[at], counts_[at]}.without(load_);
    const auto weight = static_cast<float>((estimates_[at] + steps_[at]) / known.unit());
    const std::uint32_t slot = active_.insert(key, home, weight, active_.add_name(batch, source));
    set(slot, weight, known);
    slots_of_run_.mark(key, slot, next_row);
    if (!active_.full()) continue;
    prune();
    slots_of_run_.look_up_again(active_, next_row);
  }
}

// Evidence of everything; for a run of rows together, since every cell is read. Weights stay: with less
// evidence behind them they follow the stream faster, and where it does not drift they are still
// right. The threshold holds a claim with its evidence as a factor: fading both lets in no less.
void Newton::fade() {
  fading_ *= forget_;
  if (fading_ > Evidence::kFadedEnough) return;
  const auto factor = static_cast<float>(fading_);
  sketch_.fade_pairs(factor);
  for (const ActiveSet::Entry& entry : active_.entries()) {
    Evidence known = evidence_of(entry.slot);
    known.fade(factor);
    set(entry.slot, entry.weight, known);
  }
  intercept_evidence_ *= fading_;
  scale_.evidence *= fading_;
  threshold_ *= fading_;
  load_ *= factor;
  fading_ = 1.0;
}

// The k best claims stay; the weakest of them is the threshold from now on.
void Newton::prune() {
  std::vector<ActiveSet::Entry>& all = candidates_;
  active_.list_entries(all);
  for (ActiveSet::Entry& entry : all)
    entry.weight = static_cast<float>(std::sqrt(std::sqrt(claim_of(entry.slot, entry.weight))));
  const auto home_of = [this](Key key) { return sketch_.home(key); };
  active_.prune(all, k_, home_of, [this](std::span<ActiveSet::Entry> left) { leave(left); });
  double weakest = all.empty() ? 0.0 : all.front().weight;
  for (const ActiveSet::Entry& entry : all) weakest = std::min(weakest, static_cast<double>(entry.weight));
  if (all.size() >= k_) threshold_ = fourth_power(weakest);
  load_ = sketch_.crowded();
  ++prunes_;
}

// Weights as differences to what the sketch says, evidence where there is more of it than in the pair. One key
// after the other: what meets in a cell is then counted once, and asking for the last gives its weight.
void Newton::leave(std::span<ActiveSet::Entry> left) {
  ActiveSet::sort_by_key(left);
  if (kept_.whole()) remember(left);
  Buffer<Key> keys;
  keys.reserve(left.size());
  for (const ActiveSet::Entry& entry : left) keys.push_back(entry.key);
  sketch_.hash(keys.data(), left.size(), leaving_);
  const BlockKernels& kernels = sketch_.kernels();
  for (std::size_t i = 0; i < left.size(); ++i) {
    const BlockRows place = sketch_.rows(leaving_, i);
    if (i + kAhead < left.size()) ask_to_read(place.cells + std::size_t{place.blocks[kAhead]} * kBlockFloats);
    const Evidence known = evidence_of(left[i].slot);
    float estimate;
    Evidence shared;
    kernels.estimate_and_pairs(place, 1, &estimate, &shared.scaled, &shared.count);
    const float change = static_cast<float>(active_.weight(left[i].slot) * known.unit()) - estimate;
    const Evidence& larger = known.count > shared.count ? known : shared;
    kernels.add_and_set_pairs(place, 1, &change, &larger.scaled, &larger.count);
  }
}

// Only their names: what they weigh is in the sketch.
void Newton::remember(std::span<const ActiveSet::Entry> left) {
  const auto home_of = [this](Key key) { return sketch_.home(key); };
  left_.rehouse({}, kept_.whole() ? k_ : 1, home_of);
  for (const ActiveSet::Entry& entry : left)
    left_.insert(entry.key, home_of(entry.key), 0.0F, left_.add_name(active_.name(entry.slot), entry.key));
}

void Newton::seed(Key key, const std::string& name, float weight) {
  seeded_ = true;
  kept_.drop();  // of the rows before that weight there are none
  remember({});
  const std::uint32_t home = sketch_.home(key);
  std::uint32_t slot = active_.find(key, home);
  if (slot == ActiveSet::kNone) slot = active_.insert(key, home, 0.0F, active_.add_name(name, key));
  set(slot, weight, {0.0F, Evidence::kSeeded});
  if (active_.full()) prune();
}

}  // namespace fsstream

// Which features are active for which class: entering, pruning, leaving, and what comes out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.hpp"
#include "core/larger_first.hpp"
#include "learn/class_steps.hpp"
#include "learn/softmax_learner.hpp"

namespace fsstream {

void SoftmaxLearner::admit(const Batch& batch, const LearnedRow& entries) {
  const std::size_t hashed = entries.hashed;
  const std::size_t lanes = sketch_.lanes();
  const std::uint32_t* homes = this->homes() + hashed;
  if (above_.size() != 0 && kept_.size() + above_.size() >= kept_.capacity()) {
    make_room(above_.size());
    find_kept_again(entries.keys, homes);
  }
  const std::size_t risen = class_lanes().list_above(kept_rows(), sizes_.data(), thresholds_.data(), risen_.data());
  for (std::size_t i = 0; i < risen; ++i)
    turn_on(rows_found_[risen_[i]], kept_.weights(rows_found_[risen_[i]]), sizes_[risen_[i]]);
  for (std::size_t n = 0; n < above_.size(); ++n) {
    const std::uint32_t i = above_[n];
    const std::size_t j = sketched_[i];
    float* weights = estimates_.data() + n * lanes;
    const Key key = entries.keys[j];
    Row row = kept_.find(key, homes[j]);
    if (row == ClassFeatures::kNone) {
      const std::size_t source = entries.source(j);
      if (source == ColumnMeans::kNowhere) continue;  // without a name: it enters when it is met
      if (!still_claims(i, weights, hashed)) continue;
      row = kept_.add(key, homes[j], kept_.names().add_name(batch, source));
      if (options_.exact) enter(row, weights, i, square_of_unit(j, entries.values[j]), hashed);
    }
    turn_on(row, weights, statures_[i]);
  }
}

// Room was made: rows have moved, and idle ones have left.
void SoftmaxLearner::find_kept_again(const Key* keys, const std::uint32_t* homes) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    const Row row = kept_.find(keys[beside_[i]], homes[beside_[i]]);
    if (row == ClassFeatures::kNone) continue;
    rows_found_[left] = row;
    sizes_[left++] = sizes_[i];
  }
  beside_.set_size(left);
}

// Whether sketched entry i would still enter: what has entered before it, in this row, has taken its weights out of
// cells that they share, so they are asked for anew. Else m features of a cell would take out m times what is in it,
// and where the sketch is small for the rows it would grow m - 1 times over with each of them.
bool SoftmaxLearner::still_claims(std::size_t i, float* weights, std::size_t hashed) {
  if (options_.exact) sketch_.kernels().estimate(sketch_.rows(hashed_, hashed), &sketched_[i], 1, weights);
  for (std::size_t c = 0; c < sketch_.lanes(); ++c)
    if (std::fabs(weights[c]) * statures_[i] > thresholds_[c]) return true;
  return false;
}

// Sketched entry i takes its weights out of the sketch, and the shared evidence in a unit of that square.
void SoftmaxLearner::enter(Row row, const float* weights, std::size_t i, float square, std::size_t hashed) {
  constexpr float kTaken = -1.0F;
  if (options_.adaptive) kept_.evidence(row) = {shared_counts_[i] * square, shared_counts_[i]};
  const auto unit = static_cast<float>(kept_.evidence(row).unit());
  for (std::size_t c = 0; c < classes_; ++c) kept_.weights(row)[c] = weights[c] / unit;
  sketch_.kernels().add(sketch_.rows(hashed_, hashed), &sketched_[i], 1, &kTaken, weights, asked_estimates_.data());
}

// Where its claim exceeds the class's threshold; every turn may change a threshold.
void SoftmaxLearner::turn_on(Row row, const float* weights, float size) {
  for (std::size_t c = 0; c < classes_; ++c) {
    if (kept_.is_on(row, c) || !(std::fabs(weights[c]) * size > thresholds_[c])) continue;
    kept_.turn_on(row, c);
    if (kept_.on_for(c).size() >= 2 * options_.k) prune(c);
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

float SoftmaxLearner::claim(Row row, float weight, float prior) const {
  if (!options_.adaptive) return std::fabs(weight);
  const Evidence& known = kept_.evidence(row);
  return std::fabs(weight) * claim_size(known.scaled, known.count, prior);
}

// The k best claims to class c stay; the weakest of them is the threshold from now on.
void SoftmaxLearner::prune(std::size_t c) {
  std::vector<ActiveSet::Entry> all;
  const float known = prior();
  all.reserve(kept_.on_for(c).size());
  for (const Row row : kept_.on_for(c)) all.push_back({kept_.key(row), claim(row, stored_weight(row, c), known), row});
  const auto weakest = all.begin() + static_cast<std::ptrdiff_t>(options_.k) - 1;
  std::nth_element(all.begin(), weakest, all.end(), LargerFirst());
  thresholds_[c] = weakest->weight;
  std::vector<Row> staying;
  staying.reserve(options_.k);
  for (auto best = all.begin(); best != weakest + 1; ++best) staying.push_back(best->slot);
  kept_.keep_on(c, std::move(staying));
  ++prunes_;
}

// Idle features leave; when that is not enough, the tables grow.
void SoftmaxLearner::make_room(std::size_t more) {
  std::vector<std::pair<Key, Row>> idle;
  for (Row row = 0; row < kept_.size(); ++row)
    if (kept_.idle(row)) idle.emplace_back(kept_.key(row), row);
  std::sort(idle.begin(), idle.end());
  if (options_.exact) hand_over(idle);
  const std::size_t staying = kept_.size() - idle.size();
  std::size_t capacity = kept_.capacity();
  if (2 * (staying + more) > capacity) capacity = 2 * (staying + 2 * more);
  if (sketch_.bytes() + ClassFeatures::bytes_of(capacity, sketch_.lanes()) > options_.memory) throw too_big();
  kept_.compact(capacity, [this](Key key) { return sketch_.home(key); });
}

// The sketch gets the weights back; the shared evidence is what the feature has, or what was there where that is more.
// Keys ascend: the result does not hang on where they lay.
void SoftmaxLearner::hand_over(const std::vector<std::pair<Key, Row>>& idle) {
  constexpr float kWhole = 1.0F;
  Buffer<Key> keys;
  keys.reserve(idle.size());
  for (const auto& [key, row] : idle) keys.push_back(key);
  sketch_.hash(keys.data(), idle.size(), asked_);
  for (std::uint32_t i = 0; i < idle.size(); ++i) {
    const Row row = idle[i].second;
    const Evidence& known = kept_.evidence(row);
    const auto unit = static_cast<float>(options_.adaptive ? known.unit() : 1.0);
    for (std::size_t c = 0; c < sketch_.lanes(); ++c) asked_step_[c] = kept_.weights(row)[c] * unit;
    sketch_.kernels().add(sketch_.rows(asked_, 0), &i, 1, &kWhole, asked_step_.data(), asked_estimates_.data());
    if (!options_.adaptive) continue;
    float& shared = shared_evidence(asked_.column(0)[i]);
    shared = std::max(shared, known.count);
  }
}

void SoftmaxLearner::seed(Key key, const std::string& name, std::size_t c, float weight) {
  meet_classes(c + 1);
  means_ = ColumnMeans(false, 0);  // the intercepts of an earlier model are of values as they are
  if (kept_.size() + 1 >= kept_.capacity()) make_room(1);
  const std::uint32_t home = sketch_.home(key);
  Row row = kept_.find(key, home);
  if (row == ClassFeatures::kNone) {
    row = kept_.add(key, home, kept_.names().add_name(name, key));
    kept_.evidence(row) = {0.0F, Evidence::kSeeded};
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
  if (kept_.on_for(c).size() >= 2 * options_.k) prune(c);
}

std::vector<SoftmaxLearner::Chosen> SoftmaxLearner::top() {
  struct Candidate {
    float claim;
    Key key;
    float weight;
    std::string name;
  };
  std::vector<Chosen> chosen;
  const float known = prior();
  for (std::size_t c = 0; c < classes_; ++c) {
    std::vector<Candidate> all;
    for (const Row row : kept_.on_for(c)) {
      const float stored = stored_weight(row, c);
      const auto weight = static_cast<float>(stored * scale_);
      if (weight == 0.0F) continue;
      if (!std::isfinite(weight)) throw Diverged("the weights left the range of numbers\nscale the rows");
      all.push_back({claim(row, stored, known), kept_.key(row), weight, kept_.name(row, sketch_.home(kept_.key(row)))});
    }
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.claim != b.claim ? a.claim > b.claim : a.name < b.name;
    });
    if (all.size() > options_.k) all.resize(options_.k);
    for (Candidate& best : all)
      chosen.push_back({static_cast<std::uint32_t>(c), best.key, best.weight, std::move(best.name)});
  }
  return chosen;
}

}  // namespace fsstream

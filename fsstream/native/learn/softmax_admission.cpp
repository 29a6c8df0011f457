// Which features are active for which class: entering, pruning, leaving, and what comes out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.hpp"
#include "learn/lane_kernels.hpp"
#include "learn/softmax_learner.hpp"

namespace fsstream {

namespace {

constexpr float kSeedEvidence = 4.0F;  // rows that an earlier model's weight counts for

}  // namespace

void SoftmaxLearner::admit(const Batch& batch, std::size_t first, std::size_t hashed) {
  const std::size_t lanes = sketch_.lanes();
  const std::uint32_t* homes = hashed_.column(static_cast<std::size_t>(sketch_.depth())) + hashed;
  if (kept_.size() + sketched_.size() >= kept_.capacity()) {
    make_room(sketched_.size());
    for (std::size_t j = 0; j < entries_.size(); ++j) entries_[j].row = kept_.find(batch.keys[first + j], homes[j]);
  }
  const auto is_candidate = [&](const Entry& entry, const float* weights, float stature) {
    if (!lane_kernels().any_above(weights, thresholds_.data(), stature, lanes)) return false;
    if (entry.row == ClassFeatures::kNone) return true;
    const std::uint8_t* on = kept_.on(entry.row);
    for (std::size_t c = 0; c < classes_; ++c)
      if (on[c] == 0 && std::fabs(weights[c]) * stature > thresholds_[c]) return true;
    return false;
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
    if (kept_.is_on(row, c) || !(std::fabs(weights[c]) * stature > thresholds_[c])) continue;
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
  if (!options_.adaptive) return std::fabs(weight);
  const Evidence& known = kept_.evidence(row);
  return std::fabs(weight) * static_cast<float>(known.unit()) * stature_of(known);
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

}  // namespace fsstream

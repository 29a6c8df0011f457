#include "learn/accumulated_weights.hpp"

#include <algorithm>
#include <cmath>

#include "hash/mix.hpp"

namespace fsstream {

namespace {

constexpr double kSmallestScale = 1e-9;

}  // namespace

std::uint32_t AccumulatedWeights::home(Key key) { return static_cast<std::uint32_t>(mix64(key) >> 32); }

double AccumulatedWeights::score(const Row& row) {
  const bool check = set_.must_check(*row.batch);
  slots_.clear();
  double sum = 0.0;
  for (std::size_t i = 0; i < row.size; ++i) {
    slots_.push_back(set_.find(row.keys()[i], home(row.keys()[i])));
    if (slots_[i] == ActiveSet::kNone) continue;
    sum += static_cast<double>(set_.weight(slots_[i])) * row.values()[i];
    if (check) set_.check_name(slots_[i], *row.batch, row.first + i);
  }
  return scale_ * sum;
}

// First what is there: entering may prune, and then slots are others.
void AccumulatedWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / scale_);
  for (std::size_t i = 0; i < row.size; ++i)
    if (slots_[i] != ActiveSet::kNone) set_.weight(slots_[i]) += step * row.values()[i];
  for (std::size_t i = 0; i < row.size; ++i) {
    const Key key = row.keys()[i];
    const float weight = step * row.values()[i];
    if (slots_[i] != ActiveSet::kNone || weight == 0.0F) continue;
    if (set_.find(key, home(key)) != ActiveSet::kNone) continue;  // twice in the row
    set_.insert(key, home(key), weight, set_.add_name(*row.batch, row.first + i));
    if (set_.full()) prune();
  }
}

void AccumulatedWeights::prune() {
  std::vector<ActiveSet::Entry> all = set_.entries();
  set_.prune(all, k_, home);
  ++prunes_;
}

void AccumulatedWeights::shrink(double factor) {
  scale_ *= factor;
  if (scale_ >= kSmallestScale) return;
  set_.scale_weights(scale_);
  scale_ = 1.0;
}

void AccumulatedWeights::seed(Key key, const std::string& name, float weight) {
  if (set_.find(key, home(key)) != ActiveSet::kNone) return;
  set_.insert(key, home(key), static_cast<float>(weight / scale_), set_.add_name(name, key));
  if (set_.full()) prune();
}

std::vector<Chosen> AccumulatedWeights::top() const {
  std::vector<ActiveSet::Entry> all = set_.entries();
  std::erase_if(all, [](const ActiveSet::Entry& entry) { return entry.weight == 0.0F; });
  std::sort(all.begin(), all.end(), [this](const ActiveSet::Entry& a, const ActiveSet::Entry& b) {
    const float size_a = std::fabs(a.weight);
    const float size_b = std::fabs(b.weight);
    return size_a != size_b ? size_a > size_b : set_.name(a.slot) < set_.name(b.slot);
  });
  if (all.size() > k_) all.resize(k_);
  std::vector<Chosen> chosen;
  for (const ActiveSet::Entry& entry : all)
    chosen.push_back({entry.key, static_cast<float>(entry.weight * scale_), set_.name(entry.slot)});
  return chosen;
}

std::vector<std::pair<std::string, std::uint64_t>> AccumulatedWeights::counts() const {
  return {{"candidates", set_.size()}, {"prunes", prunes_}, {"collisions", set_.collisions()}};
}

void AccumulatedWeights::save(StateWriter& out) const {
  out.put("scale", std::span<const double>(&scale_, 1));
  out.put("prunes", std::span<const std::uint64_t>(&prunes_, 1));
  set_.save(out);
}

void AccumulatedWeights::load(const StateReader& in) {
  scale_ = of_size(in.doubles("scale"), 1, "scale")[0];
  prunes_ = of_size(in.words("prunes"), 1, "prunes")[0];
  set_.load(in, home);
}

}  // namespace fsstream

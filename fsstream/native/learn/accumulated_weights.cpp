#include "learn/accumulated_weights.hpp"

#include <algorithm>
#include <functional>

#include "core/larger_first.hpp"
#include "learn/limits.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kAhead = 16;  // entries; other classes' tables lie between a row's score and its step

}  // namespace

double AccumulatedWeights::score(const Row& row) {
  slots_.reserve(row.size);
  table_.find_all(row.keys(), row.size, slots_.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < row.size; ++i) {
    if (slots_[i] == kNobody) continue;
    sum += static_cast<double>(table_[slots_[i]].weight) * row.values()[i];
    names_.check(slots_[i], *row.batch, row.first + i);
  }
  return scale_ * sum;
}

// First what is there: entering may prune, and then slots are others.
void AccumulatedWeights::add(const Row& row, double coefficient) {
  const auto step = static_cast<float>(coefficient / scale_);
  for (std::size_t i = 0; i < row.size; ++i)
    if (slots_[i] != kNobody) table_[slots_[i]].weight += step * row.values()[i];
  reserve(*row.batch, row.size);
  for (std::size_t i = 0; i < row.size; ++i) {
    if (i + kAhead < row.size) table_.ask_for(row.keys()[i + kAhead]);
    const float weight = step * row.values()[i];
    if (slots_[i] != kNobody || weight == 0.0F) continue;
    if (table_.find(row.keys()[i]) != kNobody) continue;  // twice in the row
    names_.keep(table_.add({row.keys()[i], weight}), *row.batch, row.first + i);
    if (table_.size() < room_) continue;
    prune();
    reserve(*row.batch, row.size);
  }
}

void AccumulatedWeights::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t slots = std::min(table_.size() + entries, room_);
  table_.reserve(slots);
  names_.reserve(batch, table_.size(), slots);
}

void AccumulatedWeights::prune() {
  struct Entry {
    Key key;
    float weight;
    Slot slot;
  };
  std::vector<Entry> all;
  all.reserve(table_.size());
  for (Slot slot = 0; slot < table_.size(); ++slot) all.push_back({table_[slot].key, table_[slot].weight, slot});
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k_), all.end(), LargerFirst());
  std::vector<Slot> kept;
  std::vector<Record> records;
  for (std::size_t i = 0; i < k_; ++i) {
    kept.push_back(all[i].slot);
    records.push_back(table_[all[i].slot]);
  }
  table_.clear();
  for (const Record& record : records) table_.add(record);
  names_.keep_only(kept);
  ++prunes_;
}

void AccumulatedWeights::shrink(double factor) {
  scale_ *= factor;
  if (scale_ >= kSmallestFloatScale) return;
  for (Slot slot = 0; slot < table_.size(); ++slot)
    table_[slot].weight = static_cast<float>(table_[slot].weight * scale_);
  scale_ = 1.0;
}

void AccumulatedWeights::seed(Key key, const std::string& name, float weight) {
  if (table_.find(key) != kNobody) return;
  const Batch one = named(name);
  reserve(one, 1);
  names_.keep(table_.add({key, static_cast<float>(weight / scale_)}), one, 0);
  if (table_.size() == room_) prune();
}

// The size of the last one that stays: names are spelled for what is as large, and nothing else.
float AccumulatedWeights::smallest_kept() const {
  std::vector<float> sizes;
  sizes.reserve(table_.size());
  for (Slot slot = 0; slot < table_.size(); ++slot) sizes.push_back(size_of(table_[slot].weight));
  if (sizes.size() <= k_) return -1.0F;
  const auto last = sizes.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
  std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
  return *last;
}

std::vector<Chosen> AccumulatedWeights::top() const {
  const float least = smallest_kept();
  std::vector<Chosen> chosen;
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    const Record& record = table_[slot];
    if (record.weight == 0.0F || size_of(record.weight) < least) continue;
    chosen.push_back({record.key, record.weight, names_.spell(slot, record.key)});
  }
  if (chosen.size() > k_) {
    const auto written_first = [](const Chosen& a, const Chosen& b) {
      const float size_a = size_of(a.weight);
      const float size_b = size_of(b.weight);
      return size_a != size_b ? size_a > size_b : a.name < b.name;
    };
    std::nth_element(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(k_), chosen.end(), written_first);
    chosen.resize(k_);
  }
  for (Chosen& one : chosen) one.weight = static_cast<float>(one.weight * scale_);
  return chosen;
}

std::vector<std::pair<std::string, std::uint64_t>> AccumulatedWeights::counts() const {
  return {{"candidates", table_.size()}, {"prunes", prunes_}, {"collisions", names_.collisions()}};
}

void AccumulatedWeights::save(StateWriter& out) const {
  const auto record = [this](std::size_t i) -> const Record& { return table_[static_cast<Slot>(i)]; };
  out.put("scale", std::span<const double>(&scale_, 1));
  out.put("prunes", std::span<const std::uint64_t>(&prunes_, 1));
  put_each<std::uint64_t>(out, "keys", table_.size(), [&](std::size_t i) { return record(i).key; });
  put_each<float>(out, "weights", table_.size(), [&](std::size_t i) { return record(i).weight; });
  names_.save(out, table_.size());
}

void AccumulatedWeights::load(const StateReader& in) {
  scale_ = of_size(in.doubles("scale"), 1, "scale")[0];
  prunes_ = of_size(in.words("prunes"), 1, "prunes")[0];
  const auto keys = in.words("keys");
  const auto weights = of_size(in.floats("weights"), keys.size(), "weights");
  check_state(keys.size() < room_);
  table_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (table_.find(keys[i]) != kNobody) throw BadState("state: a key twice");
    table_.add({keys[i], weights[i]});
  }
  names_.load(in, keys.size());
}

}  // namespace fsstream

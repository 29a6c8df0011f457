#include "learn/sofs.hpp"

#include <algorithm>
#include <cmath>

#include "learn/limits.hpp"

namespace fsstream {

Sofs::Sofs(double gamma, const BudgetedOptions& options)
    : OnlineLearner(options.memory), gamma_(gamma), options_(options), set_(options.budget) {}

std::size_t Sofs::bytes_with(std::size_t features) const {
  const std::size_t seats = std::min(features, options_.budget);
  return table_.bytes_with(features) + set_.bytes(seats) + seats * sizeof(Slot) + names_.bytes();
}

void Sofs::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t most = table_.size() + entries;
  check_memory(batch, bytes_with(most) + names_.bytes_of(batch, entries), memory(), table_.size(), Store::kTableOnly);
  found_.resize(std::max(found_.size(), entries));
  table_.reserve(most);
  set_.reserve(entries);
  slots_.resize(std::max(slots_.size(), std::min(options_.budget, most)));
  names_.reserve(batch, table_.size(), most);
}

double Sofs::predict(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  table_.find_all(batch.keys.data() + begin, count, found_.data());
  double u = bias_;
  for (std::size_t j = 0; j < count; ++j) {
    const Slot slot = found_[j];
    if (slot == kNobody || table_[slot].seat == kNobody) continue;
    u += set_.weight(table_[slot].seat) * static_cast<double>(batch.values[begin + j]);
  }
  return u;
}

// The confidence of the row's features rises; returns the step m beta y.
double Sofs::step_size(const Batch& batch, std::size_t row, double pull, double gamma) {
  const std::size_t begin = batch.row_begin(row);
  double spread = options_.intercept ? 1.0 / bias_precision_ : 0.0;
  for (std::size_t j = begin; j < batch.row_end(row); ++j) {
    const double x = batch.values[j];
    const Slot slot = found_[j - begin];
    spread += x * x / (slot == kNobody ? 1.0 : table_[slot].precision);
  }
  return pull / (spread + gamma);
}

// `pull` is m y. A row of importance h counts as one with gamma / h.
void Sofs::learn(const Batch& batch, std::size_t row, double pull, double gamma) {
  const double step = step_size(batch, row, pull, gamma);
  const std::size_t begin = batch.row_begin(row);
  const std::size_t end = batch.row_end(row);
  others_.clear();
  for (std::size_t j = begin; j < end; ++j) {
    const double x = batch.values[j];
    if (x == 0.0) continue;
    Slot slot = found_[j - begin];
    if (slot == kNobody) {
      slot = table_.add({batch.keys[j], 1.0, kNobody});
      names_.keep(slot, batch, j);
    }
    Seen& feature = table_[slot];
    const double move = step * x / feature.precision;
    feature.precision += x * x / gamma;
    if (feature.seat == kNobody) {
      others_.push_back({slot, move});
    } else {
      names_.check(slot, batch, j);
      set_.weight(feature.seat) += move;
      set_.score(feature.seat) = feature.precision;
      set_.touch(feature.seat);
    }
  }
  for (const auto& [slot, move] : others_) offer(slot, move);
  if (options_.intercept) {
    bias_ += step / bias_precision_;
    bias_precision_ += 1.0 / gamma;
  }
}

void Sofs::offer(Slot slot, double weight) {
  Seen& feature = table_[slot];
  if (!set_.admits(feature.key, feature.precision)) return;
  if (set_.full()) table_[slots_[set_.weakest()]].seat = kNobody;
  feature.seat = set_.enter(feature.key, weight, feature.precision);
  slots_[feature.seat] = slot;
}

void Sofs::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    const double u = predict(batch, row);
    scores[row] = static_cast<float>(u);
    const double y = batch.targets[row];
    const double shortfall = 1.0 - y * u;
    const double importance = batch.importance[row];
    check_range(batch, row, shortfall / gamma_ * std::max(1.0, importance));
    if (shortfall > 0.0 && importance > 0.0) learn(batch, row, shortfall * y, gamma_ / importance);
  }
}

std::vector<Chosen> Sofs::chosen() const {
  std::vector<Chosen> out;
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    const auto w = static_cast<float>(set_.weight(seat));
    if (w != 0.0F) out.push_back({set_.key(seat), w, names_.spell(slots_[seat], set_.key(seat))});
  }
  return out;
}

void Sofs::save(StateWriter& out) const {
  std::vector<Key> keys;
  std::vector<double> precisions{bias_precision_};
  std::vector<double> weights{bias_};
  std::vector<std::uint64_t> members;
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    keys.push_back(table_[slot].key);
    precisions.push_back(table_[slot].precision);
  }
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    members.push_back(slots_[seat]);
    weights.push_back(set_.weight(seat));
  }
  out.put("keys", std::span<const std::uint64_t>(keys));
  out.put("precisions", std::span<const double>(precisions));
  out.put("members", std::span<const std::uint64_t>(members));
  out.put("weights", std::span<const double>(weights));
  names_.save(out, table_.size());
}

void Sofs::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto precisions = of_size(in.doubles("precisions"), keys.size() + 1, "precisions");
  const auto members = in.words("members");
  const auto weights = of_size(in.doubles("weights"), members.size() + 1, "weights");
  check_state(in_range(precisions) && not_negative(precisions) && in_range(weights) &&
              members.size() <= options_.budget &&
              std::all_of(members.begin(), members.end(), [&](std::uint64_t slot) { return slot < keys.size(); }));
  bias_precision_ = precisions[0];
  bias_ = weights[0];
  table_.reserve(keys.size());
  set_.reserve(members.size());
  slots_.resize(members.size());
  for (std::size_t i = 0; i < keys.size(); ++i) table_.add({keys[i], precisions[i + 1], kNobody});
  for (std::size_t i = 0; i < members.size(); ++i) offer(static_cast<Slot>(members[i]), weights[i + 1]);
  names_.load(in, keys.size());
}

}  // namespace fsstream

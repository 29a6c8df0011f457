#include "learn/seated_weights.hpp"

#include <cmath>

#include "learn/limits.hpp"

namespace fsstream {

void SeatedWeights::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t seats = seats_with(entries);
  table_.reserve(seats);
  set_.reserve(entries);
  names_.reserve(batch, size(), seats);
}

double SeatedWeights::look_up(const Batch& batch, std::size_t begin, std::size_t end) {
  members_.clear();
  others_.clear();
  found_.reserve(end - begin);
  table_.find_all(batch.keys.data() + begin, end - begin, found_.data());
  double sum = 0.0;
  for (std::size_t j = begin; j < end; ++j) {
    const Slot seat = found_[j - begin];
    if (seat == kNobody) {
      others_.push_back(j);
      continue;
    }
    members_.push_back({j, seat});
    sum += set_.weight(seat) * static_cast<double>(batch.values[j]);
  }
  return sum;
}

double SeatedWeights::move(const Batch& batch, const Member& member, double step) {
  const auto [j, seat] = member;
  names_.check(seat, batch, j);
  const double moved = set_.weight(seat) + step * static_cast<double>(batch.values[j]);
  set_.weight(seat) = moved;
  set_.score(seat) = std::abs(moved);
  set_.touch(seat);
  return moved;
}

Slot SeatedWeights::enter(const Batch& batch, std::size_t j, Key key, double weight) {
  ++entered_;
  if (full())
    table_.replace(set_.weakest(), {key});
  else
    table_.add({key});
  const Slot seat = set_.enter(key, weight, std::abs(weight));
  names_.keep(seat, batch, j);
  return seat;
}

void SeatedWeights::seed(Key key, const std::string& name, double weight) {
  if (holds(key)) return;
  const Batch one = named(name);
  reserve(one, 1);
  offer(one, 0, key, weight);
}

void SeatedWeights::fold_scale() {
  for (Slot seat = 0; seat < size(); ++seat) {
    set_.weight(seat) *= scale_;
    set_.score(seat) = std::abs(set_.weight(seat));
  }
  scale_ = 1.0;
  set_.rebuild();
}

std::vector<Chosen> SeatedWeights::chosen() const {
  std::vector<Chosen> out;
  for (Slot seat = 0; seat < size(); ++seat) {
    const auto weight = static_cast<float>(set_.weight(seat) * scale_);
    if (weight != 0.0F) out.push_back({key(seat), weight, names_.spell(seat, key(seat))});
  }
  return out;
}

void SeatedWeights::save(StateWriter& out) const {
  out.put("keys", set_.keys());
  out.put("weights", set_.weights());
  names_.save(out, size());
}

void SeatedWeights::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto weights = of_size(in.doubles("weights"), keys.size(), "weights");
  check_state(keys.size() <= k_ && in_range(weights));
  table_.reserve(keys.size());
  set_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table_.add({keys[i]});
    set_.enter(keys[i], weights[i], std::abs(weights[i]));
  }
  names_.load(in, keys.size());
}

}  // namespace fsstream

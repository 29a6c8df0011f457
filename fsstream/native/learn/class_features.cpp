#include "learn/class_features.hpp"

#include <algorithm>

namespace fsstream {

ClassFeatures::ClassFeatures(std::size_t capacity, std::size_t lanes)
    : lanes_(lanes), keys_(capacity), row_of_slot_(keys_.slots(), kNone), rows_on_(lanes) {}

std::size_t ClassFeatures::bytes() const {
  std::size_t listed = 0;
  for (const auto& rows : rows_on_) listed += rows.capacity();
  return keys_.bytes() + listed * sizeof(Row) + (row_of_slot_.capacity() + on_count_.capacity()) * sizeof(Row) +
         key_of_.capacity() * sizeof(Key) + weights_.capacity() * sizeof(float) + on_.capacity() +
         evidence_.capacity() * sizeof(Evidence);
}

std::size_t ClassFeatures::bytes_of(std::size_t features, std::size_t lanes) {
  constexpr std::size_t kRow = sizeof(Key) + sizeof(Evidence) + 2 * sizeof(Row);
  constexpr std::size_t kSlot = sizeof(Key) + sizeof(float) + sizeof(NameRef) + sizeof(Row) + 2;
  return features * (kRow + 2 * kSlot + lanes * (sizeof(float) + 1));
}

ClassFeatures::Row ClassFeatures::add(Key key, std::uint32_t home, NameRef name) {
  const auto row = static_cast<Row>(size());
  row_of_slot_[keys_.insert(key, home, 0.0F, name)] = row;
  key_of_.push_back(key);
  weights_.resize(weights_.size() + lanes_);
  on_.resize(on_.size() + lanes_);
  on_count_.push_back(0);
  evidence_.emplace_back();
  return row;
}

void ClassFeatures::turn_on(Row row, std::size_t lane) {
  on_[row * lanes_ + lane] = 1;
  ++on_count_[row];
  rows_on_[lane].push_back(row);
}

void ClassFeatures::keep_on(std::size_t lane, std::vector<Row> staying) {
  for (const Row row : rows_on_[lane]) {
    on_[row * lanes_ + lane] = 0;
    --on_count_[row];
  }
  rows_on_[lane].clear();
  for (const Row row : staying) turn_on(row, lane);
}

void ClassFeatures::list_rows_on() {
  for (auto& rows : rows_on_) rows.clear();
  for (Row row = 0; row < size(); ++row) {
    if (idle(row)) continue;
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      if (is_on(row, lane)) rows_on_[lane].push_back(row);
  }
}

void ClassFeatures::grow(std::size_t lanes) {
  std::vector<float> weights(size() * lanes);
  std::vector<std::uint8_t> on(size() * lanes);
  for (std::size_t row = 0; row < size(); ++row) {
    std::copy_n(weights_.data() + row * lanes_, lanes_, weights.data() + row * lanes);
    std::copy_n(on_.data() + row * lanes_, lanes_, on.data() + row * lanes);
  }
  weights_ = std::move(weights);
  on_ = std::move(on);
  rows_on_.resize(lanes);
  lanes_ = lanes;
}

void ClassFeatures::scale_weights(double factor) {
  for (float& weight : weights_) weight = static_cast<float>(weight * factor);
}

void ClassFeatures::fade(double factor) {
  for (Evidence& evidence : evidence_) evidence.fade(static_cast<float>(factor));
}

// In place: rows only move towards the beginning.
void ClassFeatures::drop_idle_rows() {
  Row left = 0;
  for (Row row = 0; row < size(); ++row) {
    if (idle(row)) continue;
    key_of_[left] = key_of_[row];
    on_count_[left] = on_count_[row];
    evidence_[left] = evidence_[row];
    if (left != row) {
      std::copy_n(weights_.data() + row * lanes_, lanes_, weights_.data() + left * lanes_);
      std::copy_n(on_.data() + row * lanes_, lanes_, on_.data() + left * lanes_);
    }
    ++left;
  }
  key_of_.resize(left);
  on_count_.resize(left);
  evidence_.resize(left);
  weights_.resize(left * lanes_);
  on_.resize(left * lanes_);
}

// Tables that grow row by row would be moved to fresh pages over and over.
void ClassFeatures::reserve(std::size_t rows) {
  key_of_.reserve(rows);
  on_count_.reserve(rows);
  evidence_.reserve(rows);
  weights_.reserve(rows * lanes_);
  on_.reserve(rows * lanes_);
}

void ClassFeatures::save(StateWriter& out) const {
  keys_.save(out);
  const auto entries = keys_.entries();
  const auto row_of = [&](const ActiveSet::Entry& entry) { return row_of_slot_[entry.slot]; };
  const std::uint64_t shape[] = {keys_.capacity(), lanes_};
  out.put("kept_shape", std::span<const std::uint64_t>(shape));
  StatePieces<float> weights(out, "kept_weights", entries.size() * lanes_);
  for (const ActiveSet::Entry& entry : entries) weights.add(weights_.data() + row_of(entry) * lanes_, lanes_);
  weights.finish();
  put_each<float>(out, "kept_evidence", entries.size() * 2, [&](std::size_t i) {
    const auto& known = evidence_[row_of(entries[i / 2])];
    return i % 2 == 0 ? known.scaled : known.count;
  });
  StatePieces<char> on(out, "kept_on", entries.size() * lanes_);
  for (const ActiveSet::Entry& entry : entries)
    on.add(reinterpret_cast<const char*>(on_.data()) + row_of(entry) * lanes_, lanes_);
  on.finish();
}

std::size_t ClassFeatures::read_capacity(const StateReader& in, std::size_t most_bytes) const {
  const auto shape = of_size(in.words("kept_shape"), 2, "kept_shape");
  if (shape[1] != lanes_) throw BadState("state: other classes");
  // Memory bounds the room, what is there does not: a long row asks for more than it fills.
  constexpr std::size_t kPlaces = 2 * (sizeof(Key) + sizeof(float) + sizeof(NameRef));
  if (shape[0] > std::max<std::size_t>(keys_.capacity(), most_bytes / kPlaces)) throw BadState("state: too much room");
  return static_cast<std::size_t>(shape[0]);
}

void ClassFeatures::read_rows(const StateReader& in) {
  const auto keys = in.words("active_keys");
  const auto weights = of_size(in.floats("kept_weights"), keys.size() * lanes_, "kept_weights");
  const auto evidence = of_size(in.floats("kept_evidence"), keys.size() * 2, "kept_evidence");
  const auto on = of_size(in.bytes("kept_on"), keys.size() * lanes_, "kept_on");
  key_of_.assign(keys.begin(), keys.end());
  weights_.assign(weights.begin(), weights.end());
  on_.assign(on.begin(), on.end());
  on_count_.clear();
  evidence_.clear();
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const auto lane = on_.begin() + static_cast<std::ptrdiff_t>(row * lanes_);
    on_count_.push_back(static_cast<std::uint32_t>(
        std::count_if(lane, lane + static_cast<std::ptrdiff_t>(lanes_), [](auto x) { return x != 0; })));
    evidence_.push_back({evidence[2 * row], evidence[2 * row + 1]});
  }
}

}  // namespace fsstream

// ClassFeatures: the features that are active for at least one class, with a weight for each.
//
//   row = one feature:  weights[lane]   its weight in every class
//                       on[lane]        1 where it is among the top k of the class
//                       evidence        what is known of it (learn/evidence.hpp)
//
// Rows are appended. A row that is on nowhere stays, idle, until there is no room: then idle
// rows go and, when that does not free half, the room doubles.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/state.hpp"
#include "learn/class_lanes.hpp"
#include "learn/evidence.hpp"
#include "sketch/active_set.hpp"

namespace fsstream {

class ClassFeatures {
 public:
  using Row = std::uint32_t;
  static constexpr Row kNone = ~Row{0};

  ClassFeatures(std::size_t capacity, std::size_t lanes);

  std::size_t size() const { return key_of_.size(); }
  std::size_t capacity() const { return keys_.capacity(); }
  std::size_t bytes() const;
  // Of tables for so many features, at the most.
  static std::size_t bytes_of(std::size_t features, std::size_t lanes);

  // `home` as in ActiveSet.
  Row find(Key key, std::uint32_t home) const {
    const std::uint32_t slot = keys_.find(key, home);
    return slot == ActiveSet::kNone ? kNone : row_of_slot_[slot];
  }
  // Lists the entries of a row that are kept, with their rows, and those that are not; returns how many are.
  std::size_t split(const Key* keys, const std::uint32_t* homes, std::size_t count, Row* rows, std::uint32_t* present,
                    std::uint32_t* absent) const {
    const std::size_t found = row_kernels().split(keys_.buckets(), keys, homes, count, rows, present, absent);
    for (std::size_t i = 0; i < found; ++i) rows[i] = row_of_slot_[rows[i]];
    return found;
  }
  // The key must be absent and there must be room. Weights are zero, nothing is on.
  Row add(Key key, std::uint32_t home, NameRef name);
  ActiveSet& names() { return keys_; }
  const ActiveSet& names() const { return keys_; }
  std::uint32_t slot(Row row, std::uint32_t home) const { return keys_.find(key_of_[row], home); }
  std::string name(Row row, std::uint32_t home) const { return keys_.name(slot(row, home)); }

  Key key(Row row) const { return key_of_[row]; }
  float* weights(Row row) { return weights_.data() + row * lanes_; }
  const float* weights(Row row) const { return weights_.data() + row * lanes_; }
  LaneRows lanes_of(const Row* rows, std::size_t count) { return {weights_.data(), on_.data(), rows, count, lanes_}; }
  const std::uint8_t* on(Row row) const { return on_.data() + row * lanes_; }
  bool is_on(Row row, std::size_t lane) const { return on_[row * lanes_ + lane] != 0; }
  bool idle(Row row) const { return on_count_[row] == 0; }
  void turn_on(Row row, std::size_t lane);
  // The rows that are on for a class, in no particular order; of them, only those of `staying` stay on.
  const std::vector<Row>& on_for(std::size_t lane) const { return rows_on_[lane]; }
  void keep_on(std::size_t lane, std::vector<Row> staying);
  Evidence& evidence(Row row) { return evidence_[row]; }
  const Evidence& evidence(Row row) const { return evidence_[row]; }

  void grow(std::size_t lanes);
  void scale_weights(double factor);
  // Evidence.
  void fade(double factor);

  // Drops idle rows; the room becomes `capacity`.
  template <class HomeOf>
  void compact(std::size_t capacity, HomeOf home_of) {
    std::vector<ActiveSet::Entry> kept = keys_.entries();
    std::erase_if(kept, [this](const ActiveSet::Entry& entry) { return idle(row_of_slot_[entry.slot]); });
    keys_.rehouse(kept, capacity, home_of);
    drop_idle_rows();
    reserve(capacity);
    index(home_of);
  }

  void save(StateWriter& out) const;
  // Room beyond `most_bytes` is refused before it is taken.
  template <class HomeOf>
  void load(const StateReader& in, std::size_t most_bytes, HomeOf home_of) {
    const std::size_t capacity = read_capacity(in, most_bytes);
    keys_.rehouse({}, capacity, home_of);
    keys_.load(in, home_of);
    read_rows(in);
    index(home_of);
  }

 private:
  template <class HomeOf>
  void index(HomeOf home_of) {
    row_of_slot_.assign(keys_.slots(), kNone);
    for (Row row = 0; row < size(); ++row) row_of_slot_[keys_.find(key_of_[row], home_of(key_of_[row]))] = row;
    list_rows_on();
  }
  void drop_idle_rows();
  void reserve(std::size_t rows);
  void list_rows_on();
  std::size_t read_capacity(const StateReader& in, std::size_t most_bytes) const;
  void read_rows(const StateReader& in);

  std::size_t lanes_;
  ActiveSet keys_;
  std::vector<Row> row_of_slot_;
  std::vector<Key> key_of_;
  std::vector<float> weights_;
  std::vector<std::uint8_t> on_;
  std::vector<std::uint32_t> on_count_;
  std::vector<std::vector<Row>> rows_on_;  // by class
  std::vector<Evidence> evidence_;
};

}  // namespace fsstream

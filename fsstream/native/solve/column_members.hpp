// ColumnMembers: the features whose columns a solver retains, by slot.
//
// Of each its key, its name, and the scan that met it last: a feature that is retained is no candidate, and met twice
// in one scan it is bad data.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "solve/feature_columns.hpp"

namespace fsstream {

enum class Arrival : std::uint8_t { kEntered, kRejected, kRetained, kRepeated, kCollided };

class ColumnMembers {
 public:
  std::size_t size() const { return keys_.size(); }
  Key key(std::size_t slot) const { return keys_[slot]; }
  const std::string& name(std::size_t slot) const { return names_[slot]; }
  const std::vector<std::string>& names() const { return names_; }

  // Is the feature retained? Then where, and whether it was met before in this scan.
  bool find(const Feature& feature, std::uint64_t scan, std::size_t& slot, Arrival& outcome);
  // Where the key is retained; size() when it is not.
  std::size_t slot_of(Key key) const;

  // Into a slot, in place of its member, or behind the last.
  void put(std::size_t slot, const Feature& feature, std::uint64_t scan);
  // A member of others behind the last.
  void adopt(const ColumnMembers& from, std::size_t slot);
  // The last one takes its slot.
  void remove(std::size_t slot);
  void clear();

  // False when what was read does not fit together.
  template <class State>
  bool visit_state(State& state);

 private:
  void index_slots();

  std::vector<Key> keys_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> seen_in_;  // scan in which the member was last met
  std::unordered_map<Key, std::size_t> slots_;
};

template <class State>
bool ColumnMembers::visit_state(State& state) {
  state.list("keys", keys_);
  state.list("seen_in", seen_in_);
  state.texts("names", names_);
  if (names_.size() != keys_.size() || seen_in_.size() != keys_.size()) return false;
  index_slots();
  return true;
}

}  // namespace fsstream

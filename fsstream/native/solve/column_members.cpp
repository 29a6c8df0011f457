#include "solve/column_members.hpp"

namespace fsstream {

bool ColumnMembers::find(const Feature& feature, std::uint64_t scan, std::size_t& slot, Arrival& outcome) {
  const auto found = slots_.find(feature.key);
  if (found == slots_.end()) return false;
  slot = found->second;
  if (names_[slot] != feature.name) {
    outcome = Arrival::kCollided;
  } else {
    outcome = seen_in_[slot] == scan ? Arrival::kRepeated : Arrival::kRetained;
    seen_in_[slot] = scan;
  }
  return true;
}

std::size_t ColumnMembers::slot_of(Key key) const {
  const auto found = slots_.find(key);
  return found == slots_.end() ? size() : found->second;
}

void ColumnMembers::put(std::size_t slot, const Feature& feature, std::uint64_t scan) {
  if (slot == keys_.size()) {
    keys_.push_back(feature.key);
    names_.emplace_back(feature.name);
    seen_in_.push_back(scan);
  } else {
    slots_.erase(keys_[slot]);
    keys_[slot] = feature.key;
    names_[slot] = feature.name;
    seen_in_[slot] = scan;
  }
  slots_[feature.key] = slot;
}

void ColumnMembers::adopt(const ColumnMembers& from, std::size_t slot) {
  slots_[from.keys_[slot]] = size();
  keys_.push_back(from.keys_[slot]);
  names_.push_back(from.names_[slot]);
  seen_in_.push_back(from.seen_in_[slot]);
}

void ColumnMembers::remove(std::size_t slot) {
  const std::size_t last = keys_.size() - 1;
  slots_.erase(keys_[slot]);
  if (slot != last) {
    keys_[slot] = keys_[last];
    names_[slot].swap(names_[last]);
    seen_in_[slot] = seen_in_[last];
    slots_[keys_[slot]] = slot;
  }
  keys_.pop_back();
  names_.pop_back();
  seen_in_.pop_back();
}

void ColumnMembers::clear() {
  keys_.clear();
  names_.clear();
  seen_in_.clear();
  slots_.clear();
}

void ColumnMembers::index_slots() {
  slots_.clear();
  for (std::size_t slot = 0; slot < keys_.size(); ++slot) slots_[keys_[slot]] = slot;
}

}  // namespace fsstream

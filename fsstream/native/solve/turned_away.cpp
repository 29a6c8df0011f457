#include "solve/turned_away.hpp"

namespace fsstream {

void TurnedAway::give_back(Key key) {
  if (!wanted()) return;
  const std::lock_guard<std::mutex> held(guard_);
  if (set_ == nullptr) return;
  const std::size_t slot = set_->slot_of(key);
  if (slot < set_->size()) set_->remove(slot);
}

void TurnedAway::take(const SubstitutionSet& from, std::size_t slot) {
  if (!wanted()) return;
  const std::lock_guard<std::mutex> held(guard_);
  if (set_ == nullptr) return;  // the last place was filled meanwhile
  set_->adopt(from, slot);
  keep_heaviest();
}

void TurnedAway::place_filled() {
  const std::lock_guard<std::mutex> held(guard_);
  --free_;
  keep_heaviest();
}

void TurnedAway::keep_heaviest() {
  while (set_->size() > free_) set_->remove(set_->weakest());
  if (free_ == 0) set_.reset();
}

}  // namespace fsstream

// Features that full workers turned away while others still had places free.
//
// A worker whose share is never filled would leave fewer than s features in all. What stands here
// fills those places in the end: at any time the workers and this hold s together, or everything
// that came. Once all places are filled it is empty and stays so.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "solve/substitution_set.hpp"

namespace fsstream {

class TurnedAway {
 public:
  TurnedAway(const ColumnProblem& problem, std::size_t places)
      : free_(places), set_(std::make_unique<SubstitutionSet>(problem, places + 1)) {}

  bool wanted() const { return free_.load(std::memory_order_relaxed) > 0; }
  // The feature has come again: its worker looks at it anew.
  void give_back(Key key);
  void take(const SubstitutionSet& from, std::size_t slot);
  // A worker filled one of its places.
  void place_filled();

  // What fills the free places; null when none is free.
  const SubstitutionSet* set() const { return set_.get(); }

  // `free_places` follows from the workers, whose state is visited first.
  template <class State>
  bool visit_state(State& state, std::size_t free_places);

 private:
  void keep_heaviest();

  std::atomic<std::size_t> free_;
  std::mutex guard_;
  std::unique_ptr<SubstitutionSet> set_;
};

template <class State>
bool TurnedAway::visit_state(State& state, std::size_t free_places) {
  free_.store(free_places);
  if (free_places == 0) set_.reset();
  return set_ == nullptr || (set_->visit_state(state) && set_->size() <= free_places);
}

}  // namespace fsstream

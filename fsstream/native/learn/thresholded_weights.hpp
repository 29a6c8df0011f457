// ThresholdedWeights: iterative hard thresholding. After every step the k largest |w| stay and
// all else is forgotten: w <- H_k(w + coefficient x). Ties go to the smaller key.
//
// H_k of a step is found by offering the row's new features one by one against the weakest:
// the order of offers does not matter, the k best of all are left.
//
// Blumensath and Davies, "Iterative hard thresholding for compressed sensing", 2009; the
// baseline IHT of the MISSION paper.
#pragma once

#include <string>
#include <vector>

#include "learn/seated_weights.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class ThresholdedWeights : public Weights {
 public:
  explicit ThresholdedWeights(std::size_t k) : seats_(k) {}

  void hash(const Batch&, std::size_t, std::size_t, std::size_t) override {}
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double) override {}  // what is not among the top k is zero
  // The weight of an active feature, else 0.
  double active(Key key) const {
    const Slot seat = seats_.find(key);
    return seat == kNobody ? 0.0 : seats_.scale() * seats_.weight(seat);
  }
  void seed(Key key, const std::string& name, float weight) override;
  std::vector<Chosen> top() const override { return seats_.chosen(); }
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  std::size_t bytes() const override { return seats_.bytes_with(seats_.size()); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 protected:
  // What each entry of the row that has no seat brings; the others have been moved.
  template <class Visit>
  void move_and_offer(const Row& row, double coefficient, Visit visit) {
    const Batch& batch = *row.batch;
    const double step = coefficient / seats_.scale();
    seats_.reserve(batch, seats_.others().size());
    for (const auto& member : seats_.members()) seats_.move(batch, member, step);
    const std::uint64_t entered = seats_.entered();
    for (const std::size_t j : seats_.others()) {
      const double change = step * static_cast<double>(batch.values[j]);
      if (change == 0.0) continue;
      if (seats_.entered() != entered && seats_.holds(batch.keys[j])) continue;  // twice in the row
      visit(batch, j, change);
    }
  }
  // The seat, or kNobody when the weight is too small.
  Slot offer(const Batch& batch, std::size_t j, double weight) {
    dropped_ += seats_.full() ? 1 : 0;
    return seats_.offer(batch, j, batch.keys[j], weight);
  }

  SeatedWeights seats_;
  std::uint64_t dropped_ = 0;
};

}  // namespace fsstream

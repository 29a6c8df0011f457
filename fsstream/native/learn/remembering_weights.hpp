// RememberingWeights: hard thresholding that does not forget. The k heaviest weights that were
// touched are active, exactly; what the others gathered is remembered elsewhere, and an other
// enters once what is remembered of it exceeds the weakest active one.
//
//   score   sum over active of w_i x_i
//   add     active: w_i += c x_i.  Another i: w = remembered(i) + c x_i; if |w| exceeds the smallest
//           active |w|, i enters with w, and the one that leaves is remembered as it was;
//           otherwise c x_i is remembered.
//
// A memory answers query(key) in its cells' unit, takes add(key, amount) and has a scale() that
// shrink(factor, rewritten) lowers:
//   WeightTable   a cell for each key: MISSION with the identity sketch of its section 5.1
//   CountSketch   as MISSION, with the weakest active weight known at every moment
// H_k is exact where rows are dense; in sparse ones a feature enters when it is met.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/thresholded_weights.hpp"
#include "sketch/count_sketch.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

template <class Memory>
class RememberingWeights : public ThresholdedWeights {
 public:
  RememberingWeights(Memory memory, std::size_t k) : ThresholdedWeights(k), memory_(std::move(memory)) {}

  void add(const Row& row, double coefficient) override {
    move_and_offer(row, coefficient, [this](const Batch& batch, std::size_t j, double change) {
      if (static_cast<float>(change) != 0.0F) offer_or_remember(batch, j, static_cast<float>(change));
    });
  }

  void shrink(double factor) override {
    seats_.shrink(factor);
    if (seats_.scale() >= kSmallestFloatScale) return;  // memories are float32
    attenuate(seats_.scale());
    seats_.fold_scale();
  }

  void attenuate(double factor) override {
    double rewritten;
    memory_.shrink(factor, rewritten);
  }

  std::size_t bytes() const override { return ThresholdedWeights::bytes() + memory_.bytes(); }

  void save(StateWriter& out) const override {
    const double memory_scale = memory_.scale();
    ThresholdedWeights::save(out);
    out.put("memory_scale", std::span<const double>(&memory_scale, 1));
    save_memory(memory_, out);
  }

  void load(const StateReader& in) override {
    memory_.set_scale(of_size(in.doubles("memory_scale"), 1, "memory_scale")[0]);
    load_memory(memory_, in);
    ThresholdedWeights::load(in);
  }

 protected:
  void offer_or_remember(const Batch& batch, std::size_t j, float change) {
    const Key key = batch.keys[j];
    const bool full = seats_.full();
    const Key leaving = full ? seats_.key(seats_.weakest()) : 0;
    const double left = full ? seats_.weight(seats_.weakest()) : 0.0;
    if (offer(batch, j, remembered(key) + change) == kNobody) {
      remember(key, change);
    } else if (full) {
      remember(leaving, static_cast<float>(left) - remembered(leaving));
    }
  }

  float remembered(Key key) const { return static_cast<float>(memory_.query(key) * memory_.scale()); }
  void remember(Key key, float amount) { memory_.add(key, static_cast<float>(amount / memory_.scale())); }

  Memory memory_;  // in the unit of the seats' weights

 private:
  static void save_memory(const CountSketch& sketch, StateWriter& out) { out.put("sketch", sketch.cells()); }
  static void load_memory(CountSketch& sketch, const StateReader& in) { in.read("sketch", sketch.cells()); }
  template <class Other>
  static void save_memory(const Other& memory, StateWriter& out) {
    memory.save(out);
  }
  template <class Other>
  static void load_memory(Other& memory, const StateReader& in) {
    memory.load(in);
  }
};

}  // namespace fsstream

// CommonScale: one factor g for all weights of the active features, learned with them.
//
// The weights are g w_i. g is one more weight of the row, and its value there is s = sum w_i x_i:
//
//   A += v s^2,  r_g = 1 / (100 + A),  g += flow(q') / q' * r_g s      within [1/16, 16]
//
// A diagonal step changes each weight as if the others were known; where all are too small (many weak features, each of
// which must wait for its rows) or too large (many noisy ones), this one moves all. And it is a prior that the
// stream finds for itself: in weights g w the prior evidence L of the w counts as L / g^2.
//
// Sums that a squared loss asks for have the target's unit, in which an evidence of 100 says nothing: there g stays.
#pragma once

#include <algorithm>

#include "learn/loss.hpp"

namespace fsstream {

struct CommonScale {
  static constexpr double kStart = 100.0;  // evidence that speaks for 1
  static constexpr double kLargest = 16.0;

  double value = 1.0;     // g
  double evidence = 0.0;  // A
  bool learns;            // as the loss is

  explicit CommonScale(const Loss& loss) : learns(loss.kind() != Loss::Kind::kSquared) {}

  void meet(double sum, double v) {
    if (learns) evidence += v * sum * sum;
  }
  double rate() const { return learns ? 1.0 / (kStart + evidence) : 0.0; }
  void move(double step) { value = std::clamp(value + step, 1.0 / kLargest, kLargest); }
};

}  // namespace fsstream

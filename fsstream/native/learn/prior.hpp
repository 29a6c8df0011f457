// Prior: the evidence that stands behind a weight of 0 before any row, as the stream suggests it.
//
//   l = sum of losses of the rows, each before it was learned / sum of their losses without any feature
//   L = 0.3 max(min(l, 1), 0.2)^3 * mean over rows of (1 + entries)
//
// A stream that its features explain badly is noise for the most part: there every weight is held back
// more. Long rows share a score among more weights, each of which is held back more. Without any feature:
// a score of 0, for the squared loss the mean of the targets before the row.
#pragma once

#include <algorithm>

#include "learn/loss.hpp"

namespace fsstream {

struct Prior {
  static constexpr double kShare = 0.3;  // of the mean row
  static constexpr double kLeast = 0.2;  // share of the loss that is taken to be left at least

  double entries = 0.0;  // sum over rows of 1 + entries
  double losses = 0.0;
  double plain_losses = 0.0;
  double targets = 0.0;  // the sum, and the weight of its rows
  double weight = 0.0;

  void meet(const Loss& loss, double value, double y, double importance) {
    losses += importance * value;
    plain_losses += importance * plain_loss(loss, y);
    targets += importance * y;
    weight += importance;
  }
  double plain_loss(const Loss& loss, double y) const {
    if (loss.kind() == Loss::Kind::kLogistic) return 0.6931471805599453;
    const bool known = loss.kind() == Loss::Kind::kSquared && weight > 0.0;
    return loss.value(known ? targets / weight : 0.0, y);
  }
  double left() const { return losses < plain_losses ? std::max(losses / plain_losses, kLeast) : 1.0; }
  // L after so many rows.
  double evidence(double rows) const { return rows > 0.0 ? kShare * left() * left() * left() * entries / rows : 0.0; }
};

}  // namespace fsstream

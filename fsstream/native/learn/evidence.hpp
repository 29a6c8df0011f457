// Evidence: how much is known of a feature, for steps that find their own size.
//
//   C  sum of v over the rows that hold it      v: curvature of the row's loss
//   P  sum of v x^2, the same in its units
//
// P / C is the mean square of the feature where it occurs. Features that are not active share
// cells: a key whose cell speaks of values more than eight times its own met a bigger feature
// there, and starts anew.
#pragma once

#include <algorithm>
#include <cmath>

namespace fsstream {

struct Evidence {
  static constexpr double kPrior = 0.02;           // of the mean row: what is known before any row
  static constexpr float kSettled = 50.0F;         // from here on steps fall with the root of the evidence
  static constexpr double kLeastCurvature = 1e-4;  // a row that is understood still counts
  static constexpr float kLargestSquare = 1e26F;   // of an entry: P must not overflow
  static constexpr float kLeastSquare = 1e-30F;    // smaller ones count as none: P must not vanish
  static constexpr float kBiggerUnit = 64.0F;      // a cell of typical squares this many times one's own
  static constexpr float kFar = 16.0F;             // units that a value of a known feature may have
  static constexpr float kLeastOwn = 0.1F;         // of a shared pair's evidence
  static constexpr float kSeeded = 4.0F;           // rows that an earlier model's weight counts for
  static constexpr double kFadedEnough = 0.9;      // what is left when fading pays: it reads every cell
  float scaled = 0.0F;                             // P
  float count = 0.0F;                              // C

  static float square_of(float x) {
    const float square = x * x;
    return square < kLeastSquare ? 0.0F : (square < kLargestSquare ? square : kLargestSquare);
  }
  // The size of a typical entry; 1 before there was one.
  double unit() const { return scaled > 0.0F ? std::sqrt(static_cast<double>(scaled) / count) : 1.0; }
  // One more entry of this square. True when what was known was another feature's.
  bool meet(float square, double v, bool own) {
    const bool stranger = !own && scaled > kBiggerUnit * square * count;
    if (stranger || scaled == 0.0F) scaled = count * square;
    scaled = static_cast<float>(scaled + v * square);
    count = static_cast<float>(count + v);
    return stranger;
  }
  // What is left of a weight at a value of more than so many units: as much as makes it count like that many; else 1.
  float share_of(float x, float far = kFar) const {
    const float limit = far * far * scaled;
    const float square = square_of(x) * count;
    return scaled > 0.0F && square > limit ? std::sqrt(limit / square) : 1.0F;
  }
  // What is a feature's own where it shared a pair that holds so much of others'.
  Evidence without(float others) const {
    const float share = std::max(1.0F - others / count, kLeastOwn);
    return {scaled * share, count * share};
  }
  // Counts less from now on; its unit stays.
  void fade(float factor) {
    scaled *= factor;
    count *= factor;
  }
  // Inverse curvature, with the prior evidence.
  double rate(double prior) const { return 1.0 / (scaled * (1.0 + prior / count)); }
};

}  // namespace fsstream

// Calibration: how far the scores of a pass are to be trusted, from the scores themselves.
//
// Each row is scored before it is learned. What those scores were worth says what the weights are worth on
// rows to come, without a row held back:
//
//   a, c  minimise  N * weighted mean of loss(a u_t + c, y_t) + 4 (a - 1)^2 + 4 c^2
//
// u_t the score of row t, whose weight is h_t t^2, since late scores come from weights like the final ones;
// N = (sum of weights)^2 / sum of their squares, the rows that they are worth. What is written is a w, and
// a b + c for the intercept. Nothing that is being learned is touched, and no order among features.
// (Twenty columns of click counts: log loss 6.0 without it, .48 with it; text: .15 and .10.)
//
// Where no row was met a = 1 and c = 0. So for the hinge loss, whose scores have no scale to find.
//
// For classes the scores are gathered in bins, each label apart: four to an octave from 1/8 to 1024, one for
// all that are smaller, the sums of weights and scores in each. For the squared loss five sums do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learn/loss.hpp"

namespace fsstream {

class Calibration {
 public:
  struct Line {
    double slope = 1.0;   // a
    double offset = 0.0;  // c
  };

  Calibration(const Loss& loss, bool with_offset);

  // The score of a row that was not learned before, its number from 1 on.
  void meet(double score, double target, double importance, std::uint64_t row);
  Line line() const;

  // All that is known, for saving and adding up.
  std::span<const double> numbers() const { return numbers_; }
  void restore(std::span<const double> numbers);

 private:
  double rows_worth() const;
  Line by_squares() const;
  Line by_descent() const;
  double objective(const Line& line) const;
  // Calls visit(mean score, label, weight) for each bin that is not empty.
  template <class Visit>
  void for_each_bin(Visit visit) const;

  Loss loss_;
  bool with_offset_;
  std::vector<double> numbers_;  // sum of weights, sum of their squares, then as above
};

}  // namespace fsstream

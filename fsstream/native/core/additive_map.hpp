// AdditiveMap: the features that one value becomes under an additive kernel, k(x, z) = sum over j
// of k(x_j, z_j) (section 6.1 of the Feature Generating Machine's paper).
//
//   histogram  t = (|v| / largest |v|)^a       k = min(t_x, t_z)                    100 features
//              phi_b(t) = clip(100 t - b, 0, 1) / 10,  exact where 100 t is whole (Wu, 2012)
//   gaussian   t = (v - low) / (high - low)    k = exp(-(t_x - t_z)^2 / 2 width^2)   11 features
//              sqrt kappa_0, sqrt kappa_m cos(pi m t), sqrt kappa_m sin(pi m t), m = 1 .. 5:
//              the kernel's spectrum sampled as if it had period 2 (Vedaldi and Zisserman, 2010)
//
// A value of zero has no features. Every phi is linear between knots, the multiples of 1/100 or
// 1/128, which makes the cost of a row the same for any number of features:
//   sums over rows      r_i goes to the two knots beside t_i; features are taken from the knots' sums
//   decision values     the weights' function is tabled at the knots and read between them
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace fsstream {

// The values of a feature, zeros left out.
struct ValueRange {
  float low, high;
};

class AdditiveMap {
 public:
  // shape: the exponent a, or the width as a share of the range.
  AdditiveMap(std::string_view kernel, double shape);

  std::size_t features() const { return features_; }
  std::size_t knots() const { return knots_; }

  // t of a value that is not zero, in 0 .. 1; values outside the range count as its end.
  float place(float value, ValueRange range) const;
  // knot_sums[knots] += r, shared between the two beside t.
  void add(double r, float t, double* knot_sums) const {
    const Between at = between(t);
    knot_sums[at.knot] += r * (1.0 - at.share);
    knot_sums[at.knot + 1] += r * at.share;
  }
  // sum of r phi_f(t), of every feature f, from the sums at the knots.
  void features_of(const double* knot_sums, double* sums) const;
  // sum over f of weight_f phi_f at every knot.
  void at_knots(const double* weights, double* knot_values) const;
  // A function tabled at the knots, at t.
  double read(const double* knot_values, float t) const {
    const Between at = between(t);
    return knot_values[at.knot] + at.share * (knot_values[at.knot + 1] - knot_values[at.knot]);
  }
  // knot_squares[3 knots] += cost (1-s)^2, 2 cost s (1-s), cost s^2 of the segment that t is in.
  void add_square(double cost, float t, double* knot_squares) const {
    const Between at = between(t);
    const double rest = 1.0 - at.share;
    knot_squares[3 * at.knot] += cost * rest * rest;
    knot_squares[3 * at.knot + 1] += 2.0 * cost * at.share * rest;
    knot_squares[3 * at.knot + 2] += cost * at.share * at.share;
  }
  // sum of cost phi_f(t)^2 of every feature f.
  void squares_of(const double* knot_squares, double* squares) const;

 private:
  struct Between {
    std::size_t knot;
    double share;  // 0 at the knot, 1 at the next
  };
  Between between(float t) const {
    const double scaled = static_cast<double>(t) * static_cast<double>(knots_ - 1);
    const std::size_t knot = std::min(static_cast<std::size_t>(scaled), knots_ - 2);
    return {knot, scaled - static_cast<double>(knot)};
  }
  double value(std::size_t knot, std::size_t feature) const { return table_[knot * features_ + feature]; }

  bool histogram_;
  double exponent_ = 1.0;
  std::size_t features_, knots_;
  std::vector<double> table_;  // phi_f at knot q
};

}  // namespace fsstream

// Sums in a fixed number of lanes: vectorised at any register width, one result on all.
#pragma once

#include <cstddef>

namespace fsstream {

inline constexpr std::size_t kLanes = 16;

// Of terms in a row, lane l takes numbers l, l + 16, ...; lanes are folded in halves.
class LaneSums {
 public:
  // The next `count` terms. Only the last of several calls may have a count that is no multiple of the lanes.
  template <class Term>
  void add(std::size_t count, Term term) {
    std::size_t j = 0;
    for (; j + kLanes <= count; j += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes_[lane] += term(j + lane);
    for (std::size_t lane = 0; j + lane < count; ++lane) lanes_[lane] += term(j + lane);
  }

  double total() {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane) lanes_[lane] += lanes_[lane + half];
    return lanes_[0];
  }

 private:
  double lanes_[kLanes] = {};
};

// Sum of term(j) for j in [0, count).
template <class Term>
inline double sum_in_lanes(std::size_t count, Term term) {
  LaneSums sums;
  sums.add(count, term);
  return sums.total();
}

// The same in eight lanes, folded four, one and two apart: the bits of fgm's results.
template <class Term>
inline double sum_in_eight_lanes(std::size_t count, Term term) {
  constexpr std::size_t kEight = 8;
  double lane[kEight] = {};
  std::size_t j = 0;
  for (; j + kEight <= count; j += kEight)
    for (std::size_t l = 0; l < kEight; ++l) lane[l] += term(j + l);
  for (std::size_t l = 0; j + l < count; ++l) lane[l] += term(j + l);
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

}  // namespace fsstream

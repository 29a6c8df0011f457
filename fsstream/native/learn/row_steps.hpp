// The arithmetic of a row of Newton steps, array by array.
//
// The rule is learn/newton.hpp's, one feature of it is learn/evidence.hpp's; here it is written
// for all entries of one kind (active or not) side by side, so that divisions and roots fill
// wide registers. Entries whose square vanishes are left as they are and get no step.
//
// Arrays are read and written in whole lanes of kSlack entries: they need room for the rest of the last
// one, and values must be zero there.
#pragma once

#include <cstddef>

#include "sketch/row_kernels.hpp"

namespace fsstream {

struct RowSteps {
  // P and C with this row's share v, squares[j] = x^2; returns how many entries count. What has no P of its `own`,
  // or had none yet, takes C x^2 for it; and its estimate is dropped when the shared P is a stranger's (see Evidence).
  std::size_t (*meet)(const float* values, std::size_t count, float v, bool own, float* scaled, float* counts,
                      float* estimates, float* squares);
  // steps[j] = r x, terms[j] = r x^2 instead of x^2, with r = C / (P min(E, sqrt(50 E))), E = C + prior.
  void (*rate)(const float* values, std::size_t count, float prior, const float* scaled, const float* counts,
               float* steps, float* terms);
  // steps[j] *= step, at typical size; claims[j] = estimate after it, to the fourth power, times C + prior, or twice
  // that without others' share of C (Evidence::without) if it is less. Returns how many claims exceed the threshold.
  std::size_t (*claim)(std::size_t count, float step, float prior, float others, double threshold, const float* scaled,
                       const float* counts, const float* estimates, float* steps, double* claims);
  // What of each weight is doubtful, and what is the prior's (learn/trust.hpp).
  void (*doubt)(const float* weights, std::size_t count, float prior, double threshold, const float* scaled,
                const float* counts, float* doubtful, float* held_back);
  // Sum of terms, each place of a lane on its own.
  double (*sum)(const float* terms, std::size_t count);
};

const RowSteps& row_steps();

// The next whole lane.
inline std::size_t whole_lanes(std::size_t count) { return (count + kSlack - 1) & ~(kSlack - 1); }

}  // namespace fsstream

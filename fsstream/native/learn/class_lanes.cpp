#include "learn/class_lanes.hpp"

#include <algorithm>

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kBlock = 16;

inline float magnitude(float x) { return x < 0 ? -x : x; }

// sums[c] = sum over kept features that are on for c of term(i, weight): a block of lanes at a time.
template <std::size_t L, class Term>
inline void sum_blocks(const LaneRows& kept, double* sums, Term term) {
  for (std::size_t begin = 0; begin < kept.lanes; begin += L) {
    double totals[L] = {};
    for (std::size_t i = 0; i < kept.count; ++i) {
      const std::size_t at = std::size_t{kept.rows[i]} * kept.lanes + begin;
      for (std::size_t c = 0; c < L; ++c) totals[c] += kept.on[at + c] != 0 ? term(i, kept.weights[at + c]) : 0.0;
    }
    std::copy_n(totals, L, sums + begin);
  }
}

template <class Term>
inline void sum_on(const LaneRows& kept, double* sums, Term term) {
  constexpr std::size_t kFew = 4;
  if (kept.lanes % kBlock == 0)
    sum_blocks<kBlock>(kept, sums, term);
  else
    sum_blocks<kFew>(kept, sums, term);
}

void score(const LaneRows& kept, const float* values, double* sums) {
  sum_on(kept, sums, [values](std::size_t i, float weight) { return static_cast<double>(weight) * values[i]; });
}

void pull(const LaneRows& kept, const float* terms, double* sums) {
  sum_on(kept, sums, [terms](std::size_t i, float) { return static_cast<double>(terms[i]); });
}

void step(const LaneRows& kept, const float* factors, const float* active, const float* other) {
  for (std::size_t i = 0; i < kept.count; ++i) {
    float* __restrict weights = kept.weights + std::size_t{kept.rows[i]} * kept.lanes;
    const std::uint8_t* __restrict on = kept.on + std::size_t{kept.rows[i]} * kept.lanes;
    for (std::size_t c = 0; c < kept.lanes; ++c) weights[c] += factors[i] * (on[c] != 0 ? active[c] : other[c]);
  }
}

std::size_t list_above(const LaneRows& kept, const float* sizes, const float* thresholds, std::uint32_t* listed) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < kept.count; ++i) {
    const float* weights = kept.weights + std::size_t{kept.rows[i]} * kept.lanes;
    const std::uint8_t* on = kept.on + std::size_t{kept.rows[i]} * kept.lanes;
    unsigned above = 0;
    for (std::size_t c = 0; c < kept.lanes; ++c) {
      const unsigned exceeds = magnitude(weights[c]) * sizes[i] > thresholds[c] ? 1U : 0U;
      above |= exceeds & (on[c] == 0 ? 1U : 0U);
    }
    listed[found] = static_cast<std::uint32_t>(i);
    found += above;
  }
  return found;
}

void score_above(const float* weights, const float* thresholds, double x, std::size_t lanes, double* sums) {
  for (std::size_t c = 0; c < lanes; ++c)
    sums[c] += magnitude(weights[c]) > thresholds[c] ? static_cast<double>(weights[c]) * x : 0.0;
}

bool any_above(const float* weights, const float* thresholds, std::size_t lanes) {
  unsigned above = 0;
  for (std::size_t c = 0; c < lanes; ++c) above |= magnitude(weights[c]) > thresholds[c] ? 1U : 0U;
  return above != 0;
}

}  // namespace

const ClassLanes& class_lanes() {
  static const ClassLanes kernels = {Compiled<&score>::best(),       Compiled<&pull>::best(),
                                     Compiled<&step>::best(),        Compiled<&list_above>::best(),
                                     Compiled<&score_above>::best(), Compiled<&any_above>::best()};
  return kernels;
}

}  // namespace fsstream

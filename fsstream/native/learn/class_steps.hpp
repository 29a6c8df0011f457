// The arithmetic of a row of softmax steps, array by array, as learn/row_steps.hpp for two classes.
//
// The rule is learn/softmax_learner.hpp's. Of what is not kept beside the sketch only C is known, in
// cells that keys share: P is C x^2, so that x is left with its sign (of a table's columns the unit is known, and x
// is left in it). A value whose square vanishes has the sign 0 and gets no step.
//
// Arrays are read and written in whole lanes of kSlack entries, but for those by entry of the row.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "learn/evidence.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

struct SharedEvidence {
  float* cells;
  std::uint32_t mask;
  const std::uint32_t* places;  // by entry of the row
};

// What the sketch says of a claim counts for so much of it: sketches err, and a claim that is looked at is one that
// errs upwards. Without it 2.7 times as many features enter on dna15, where three quarters of the time goes to what
// they cost then.
inline constexpr float kNewcomer = 0.8F;

struct ClassSteps {
  // counts[i] = C of entry listed[i] with this row's share v, also left in its cell; signs[i] of its value.
  // Nothing is changed before all is read. Returns how many entries count.
  std::size_t (*meet)(const SharedEvidence& shared, const float* values, const std::uint32_t* listed, std::size_t count,
                      float v, float* counts, float* signs);
  // With E = counts[i] + prior and r = 1 / min(E, sqrt(50 E)): terms = r x^2, r x instead of x (signs[i], in its unit),
  // statures = kNewcomer E^(1/4).
  void (*rate)(std::size_t count, float prior, const float* counts, float* signs, float* terms, float* statures);
  // sizes[i] = claim_size of a kept feature.
  void (*sizes)(std::size_t count, float prior, const float* scaled, const float* counts, float* sizes);
};

const ClassSteps& class_steps();

// Asks the caches for what looking up a run of entries will touch, as sketch/warm_up.hpp: the bucket of a key that may
// be kept, the shared evidence of one that is not.
void warm_up(const KeyBuckets& buckets, const SharedEvidence& shared, const std::uint32_t* homes, std::size_t count);

// What makes a weight a claim to be active: the size of a typical entry, times the fourth root of the evidence.
inline float claim_size(float scaled, float count, float prior) {
  return (scaled > 0.0F ? std::sqrt(scaled / count) : 1.0F) * std::sqrt(std::sqrt(count + prior));
}

}  // namespace fsstream

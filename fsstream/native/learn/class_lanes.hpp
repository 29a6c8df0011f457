// Loops over the lanes (classes) of some features' weights, compiled for several instruction sets.
//
// Lanes are 4, 8 or a multiple of 16. Sums over features go through them in order, lane by lane.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsstream {

// Rows of ClassFeatures: row rows[i] begins at rows[i] * lanes of either table.
struct LaneRows {
  float* weights;
  const std::uint8_t* on;
  const std::uint32_t* rows;
  std::size_t count;
  std::size_t lanes;
};

struct ClassLanes {
  // sums = over kept features that are on for the class: of values[i] times their weight; of terms[i].
  void (*score)(const LaneRows& kept, const float* values, double* sums);
  void (*pull)(const LaneRows& kept, const float* terms, double* sums);
  // weights += factors[i] times the step of active features where the class is on, of others elsewhere.
  void (*step)(const LaneRows& kept, const float* factors, const float* active, const float* other);
  // Lists i where |weight| * sizes[i] exceeds the threshold of a class that is not on; returns how many.
  // Needs room for one more.
  std::size_t (*list_above)(const LaneRows& kept, const float* sizes, const float* thresholds, std::uint32_t* listed);
  // sums += x w where |w| exceeds the class's threshold; and whether any |w| does.
  void (*score_above)(const float* weights, const float* thresholds, double x, std::size_t lanes, double* sums);
  bool (*any_above)(const float* weights, const float* thresholds, std::size_t lanes);
};

const ClassLanes& class_lanes();

}  // namespace fsstream

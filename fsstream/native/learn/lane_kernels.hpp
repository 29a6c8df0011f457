// Loops over the lanes (classes) of one feature's weights, compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsstream {

struct LaneKernels {
  // sums += x w where the class is on.
  void (*score_on)(const float* weights, const std::uint8_t* on, double x, std::size_t lanes, double* sums);
  // sums += x w where |w| exceeds the class's threshold.
  void (*score_above)(const float* weights, const float* thresholds, double x, std::size_t lanes, double* sums);
  // pulls += pull where the class is on.
  void (*pull_on)(const std::uint8_t* on, double pull, std::size_t lanes, double* pulls);
  // weights += factor times the step of active features where the class is on, of others elsewhere.
  void (*step)(float* weights, const std::uint8_t* on, float factor, const float* active, const float* other,
               std::size_t lanes);
  // Whether |w| * stature exceeds the threshold of any class.
  bool (*any_above)(const float* weights, const float* thresholds, float stature, std::size_t lanes);
};

const LaneKernels& lane_kernels();

}  // namespace fsstream

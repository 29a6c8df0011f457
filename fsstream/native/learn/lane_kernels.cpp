#include "learn/lane_kernels.hpp"

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

inline float magnitude(float x) { return x < 0 ? -x : x; }

inline void score_on(const float* weights, const std::uint8_t* on, double x, std::size_t lanes, double* sums) {
  for (std::size_t c = 0; c < lanes; ++c) sums[c] += on[c] != 0 ? static_cast<double>(weights[c]) * x : 0.0;
}

inline void score_above(const float* weights, const float* thresholds, double x, std::size_t lanes, double* sums) {
  for (std::size_t c = 0; c < lanes; ++c)
    sums[c] += magnitude(weights[c]) > thresholds[c] ? static_cast<double>(weights[c]) * x : 0.0;
}

inline void pull_on(const std::uint8_t* on, double pull, std::size_t lanes, double* pulls) {
  for (std::size_t c = 0; c < lanes; ++c) pulls[c] += on[c] != 0 ? pull : 0.0;
}

inline void step_beside(float* weights, const std::uint8_t* on, float factor, const float* active, const float* other,
                        std::size_t lanes) {
  for (std::size_t c = 0; c < lanes; ++c) weights[c] += factor * (on[c] != 0 ? active[c] : other[c]);
}

inline bool any_above(const float* weights, const float* thresholds, float stature, std::size_t lanes) {
  unsigned above = 0;
  for (std::size_t c = 0; c < lanes; ++c) above |= magnitude(weights[c]) * stature > thresholds[c] ? 1U : 0U;
  return above != 0;
}

}  // namespace

const LaneKernels& lane_kernels() {
  static const LaneKernels kernels = {Compiled<&score_on>::best(), Compiled<&score_above>::best(),
                                      Compiled<&pull_on>::best(), Compiled<&step_beside>::best(),
                                      Compiled<&any_above>::best()};
  return kernels;
}

}  // namespace fsstream

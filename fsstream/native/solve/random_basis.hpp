// Random features drawn by number: the directions of feature h are a function of the kernel, the
// seed, h and the keys of the inputs, so none is ever stored.
//
//   gaussian    k(x, y) = exp(-|x - y|^2 / (2 width^2))     omega_j normal, sqrt 2 cos(omega.x + b)
//   laplacian   k(x, y) = exp(-|x - y|_1 / width)           omega_j Cauchy, the same
//   perceptron  k(x, y) = const - |x - y|                   sign(v.x + t), v on the sphere, |t| <= reach
//
// (Rahimi and Recht, NIPS 2007; Lin and Li, JMLR 2008.) With anchors, rows of the data, the plane of
// a perceptron goes by one of them instead, a little towards another: thresholds lie where the data
// are, in any direction, and hardly ever on a row. x_j here is (value_j - centre_j) *
// inverse_j; both are folded into direction and offset, so that rows stay sparse. Waves count
// angles in turns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "hash/mix.hpp"

namespace fsstream {

enum class RandomKernel { kGaussian, kLaplacian, kPerceptron };
RandomKernel kernel_named(std::string_view name);

class RandomBasis {
 public:
  RandomBasis(RandomKernel kernel, std::uint64_t seed, double width, double reach, std::span<const Key> keys,
              std::span<const double> centres, std::span<const double> inverses, std::span<const float> anchors = {});

  std::size_t inputs() const { return keys_.size(); }

  // directions: inputs x features, offsets: features.
  void draw(std::span<const std::uint64_t> features, float* directions, float* offsets) const;

 private:
  void draw_one(std::uint64_t feature, std::vector<double>& direction, double& offset) const;

  double anchored_offset(SplitMix& draws, const std::vector<double>& direction) const;

  RandomKernel kernel_;
  std::uint64_t seed_;
  double width_, reach_;
  std::vector<Key> keys_;
  std::vector<double> centres_, inverses_;
  std::vector<float> anchors_;  // rows x inputs
};

}  // namespace fsstream

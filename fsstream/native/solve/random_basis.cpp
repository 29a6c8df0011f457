#include "solve/random_basis.hpp"

#include <cmath>
#include <stdexcept>

#include "core/math.hpp"
#include "core/turns.hpp"
#include "hash/mix.hpp"

namespace fsstream {

namespace {

constexpr double kTurn = 6.283185307179586476925;
constexpr double kAside = 0.1;  // of the way to another anchor, at most

// In (0, 1): a logarithm and a quotient are taken of it.
double open_uniform(SplitMix& draws) { return (static_cast<double>(draws.next() >> 12) + 0.5) * 0x1.0p-52; }

double normal(SplitMix& draws) {
  const double radius = std::sqrt(-2.0 * log(open_uniform(draws)));
  return radius * cosine_of_turns(open_uniform(draws));
}

// The cotangent of a uniform angle.
double cauchy(SplitMix& draws) {
  const double half_turn = 0.5 * open_uniform(draws);
  return cosine_of_turns(half_turn) / cosine_of_turns(half_turn - 0.25);
}

}  // namespace

RandomKernel kernel_named(std::string_view name) {
  if (name == "gaussian") return RandomKernel::kGaussian;
  if (name == "laplacian") return RandomKernel::kLaplacian;
  if (name == "perceptron") return RandomKernel::kPerceptron;
  throw std::invalid_argument("no such kernel");
}

RandomBasis::RandomBasis(RandomKernel kernel, std::uint64_t seed, double width, double reach, std::span<const Key> keys,
                         std::span<const double> centres, std::span<const double> inverses,
                         std::span<const float> anchors)
    : kernel_(kernel),
      seed_(mix64(seed ^ 0x7372662d62617369ULL)),
      width_(width),
      reach_(reach),
      keys_(keys.begin(), keys.end()),
      centres_(centres.begin(), centres.end()),
      inverses_(inverses.begin(), inverses.end()),
      anchors_(anchors.begin(), anchors.end()) {
  if (centres.size() != keys.size() || inverses.size() != keys.size())
    throw std::invalid_argument("keys, centres and inverses have one entry an input");
  if (!anchors.empty() && anchors.size() % keys.size() != 0)
    throw std::invalid_argument("anchors have one value an input");
  if (!(width > 0) || !(reach >= 0)) throw std::invalid_argument("width and reach are positive");
}

void RandomBasis::draw_one(std::uint64_t feature, std::vector<double>& direction, double& offset) const {
  SplitMix own(seed_ ^ mix64(feature + 1));
  const std::uint64_t stem = own.next();
  double squares = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    SplitMix draws(stem ^ mix64(keys_[j] + 1));
    direction[j] = kernel_ == RandomKernel::kLaplacian ? cauchy(draws) : normal(draws);
    squares += direction[j] * direction[j];
  }
  const bool step = kernel_ == RandomKernel::kPerceptron;
  const double length = step ? std::sqrt(squares) : width_ * kTurn;
  const double uniform = own.uniform();
  offset = step ? (2.0 * uniform - 1.0) * reach_ : uniform;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    direction[j] *= inverses_[j] / length;
    offset -= centres_[j] * direction[j];
  }
  if (step && !anchors_.empty()) offset = anchored_offset(own, direction);
}

double RandomBasis::anchored_offset(SplitMix& draws, const std::vector<double>& direction) const {
  const std::size_t rows = anchors_.size() / keys_.size();
  const float* here = &anchors_[draws.next() % rows * keys_.size()];
  const float* there = &anchors_[draws.next() % rows * keys_.size()];
  const double part = kAside * draws.uniform();
  double projected = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j)
    projected += direction[j] * (here[j] + part * (static_cast<double>(there[j]) - here[j]));
  return -projected;
}

void RandomBasis::draw(std::span<const std::uint64_t> features, float* directions, float* offsets) const {
  std::vector<double> direction(keys_.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    double offset = 0;
    draw_one(features[f], direction, offset);
    // Whole turns say nothing and would cost the float its last digits.
    if (kernel_ != RandomKernel::kPerceptron) offset -= std::floor(offset);
    for (std::size_t j = 0; j < keys_.size(); ++j)
      directions[j * features.size() + f] = static_cast<float>(direction[j]);
    offsets[f] = static_cast<float>(offset);
  }
}

}  // namespace fsstream

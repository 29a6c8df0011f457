#include "learn/row_steps.hpp"

#include <limits>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "learn/evidence.hpp"
#include "learn/trust.hpp"

namespace fsstream {

namespace {

constexpr float kLeast = std::numeric_limits<float>::min();
constexpr float kNoLimit = std::numeric_limits<float>::infinity();

// Loops are kept apart where one that knew that a square may be none would branch instead of filling registers.
inline void square(const float* __restrict values, std::size_t count, float* __restrict squares) {
  for (std::size_t j = 0; j < count; ++j) {
    const float exact = values[j] * values[j];
    const float bounded = exact < Evidence::kLargestSquare ? exact : Evidence::kLargestSquare;
    squares[j] = exact >= Evidence::kLeastSquare ? bounded : 0.0F;
  }
}

std::size_t meet(const float* __restrict values, std::size_t count, float v, bool own, float* __restrict scaled,
                 float* __restrict counts, float* __restrict estimates, float* __restrict squares) {
  const std::size_t whole = whole_lanes(count);
  square(values, whole, squares);
  if (own) {
    for (std::size_t j = 0; j < whole; ++j) {
      const float typical = counts[j] * squares[j];
      scaled[j] = scaled[j] > 0.0F ? scaled[j] : typical;
    }
  } else {
    for (std::size_t j = 0; j < whole; ++j) {
      const float typical = counts[j] * squares[j];
      const float limit = squares[j] > 0.0F ? Evidence::kBiggerUnit * typical : kNoLimit;
      estimates[j] = scaled[j] > limit ? 0.0F : estimates[j];
      scaled[j] = squares[j] > 0.0F ? typical : scaled[j];
    }
  }
  std::size_t entries = 0;
  for (std::size_t j = 0; j < whole; ++j) entries += squares[j] > 0.0F ? 1 : 0;
  for (std::size_t j = 0; j < whole; ++j) {
    const float share = squares[j] > 0.0F ? v : 0.0F;
    const float grown = scaled[j] + share * squares[j];
    counts[j] += share;
    scaled[j] = grown > kLeast ? grown : kLeast;
  }
  return entries;
}

void rate(const float* __restrict values, std::size_t count, float prior, const float* __restrict scaled,
          const float* __restrict counts, float* __restrict steps, float* __restrict terms) {
  const std::size_t whole = whole_lanes(count);
  for (std::size_t j = 0; j < whole; ++j) {
    const float square = terms[j];
    const float evidence = counts[j] + prior;
    const float slow = __builtin_sqrtf(Evidence::kSettled * evidence);
    const float rate = counts[j] / (evidence < slow ? evidence : slow) / scaled[j];
    const float step = rate * values[j];
    steps[j] = square > 0.0F ? step : 0.0F;
    const float term = rate * square;
    terms[j] = square > 0.0F ? term : 0.0F;
  }
}

std::size_t claim(std::size_t count, float step, float prior, float others, double threshold,
                  const float* __restrict scaled, const float* __restrict counts, const float* __restrict estimates,
                  float* __restrict steps, double* __restrict claims) {
  const std::size_t whole = whole_lanes(count);
  for (std::size_t j = 0; j < whole; ++j) {
    const float unit = __builtin_sqrtf(scaled[j] / counts[j]);
    const float moved = step * steps[j] * unit;
    const bool moves = steps[j] != 0.0F;
    const float kept = moves ? moved : 0.0F;
    const auto after = static_cast<double>(estimates[j] + kept);
    const double squared = after * after;
    const float rest = counts[j] - others;
    const float least = Evidence::kLeastOwn * counts[j];
    const double shared = static_cast<double>(counts[j]) + prior;
    const double own = 2.0 * (static_cast<double>(rest > least ? rest : least) + prior);
    const double claim = squared * squared * (own < shared ? own : shared);
    steps[j] = kept;
    claims[j] = moves ? claim : 0.0;
  }
  std::size_t above = 0;
  for (std::size_t j = 0; j < whole; ++j) above += claims[j] > threshold ? 1 : 0;
  return above;
}

void doubt(const float* __restrict weights, std::size_t count, float prior, double threshold,
           const float* __restrict scaled, const float* __restrict counts, float* __restrict doubtful,
           float* __restrict held_back) {
  const std::size_t whole = whole_lanes(count);
  for (std::size_t j = 0; j < whole; ++j) {
    const float unit_squared = scaled[j] > 0.0F ? scaled[j] / counts[j] : 1.0F;
    const float evidence = counts[j] + prior;
    const auto squared = static_cast<double>(weights[j] * weights[j] * unit_squared);
    const double claim = squared * squared * static_cast<double>(evidence);
    doubtful[j] = weights[j] * static_cast<float>(Trust::doubtful(claim, threshold));
    held_back[j] = weights[j] * Trust::held_back(counts[j], prior);
  }
}

double sum(const float* terms, std::size_t count) {
  return sum_in_lanes(whole_lanes(count), [terms](std::size_t j) { return static_cast<double>(terms[j]); });
}

}  // namespace

const RowSteps& row_steps() {
  static const RowSteps best = {Compiled<&meet>::best(), Compiled<&rate>::best(), Compiled<&claim>::best(),
                                Compiled<&doubt>::best(), Compiled<&sum>::best()};
  return best;
}

}  // namespace fsstream

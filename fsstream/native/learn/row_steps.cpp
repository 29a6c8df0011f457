#include "learn/row_steps.hpp"

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "learn/evidence.hpp"

namespace fsstream {

namespace {

inline float square_of(float x) {
  const double exact = static_cast<double>(x) * x;
  return static_cast<float>(exact < Evidence::kLargestSquare ? exact : Evidence::kLargestSquare);
}

void meet(const float* __restrict values, std::size_t count, double v, bool own, float* __restrict scaled,
          float* __restrict counts, float* __restrict estimates, double* __restrict terms) {
  for (std::size_t j = 0; j < count; ++j) {
    const float square = square_of(values[j]);
    const float typical = counts[j] * square;
    const bool stranger = !own && square > 0.0F && scaled[j] > Evidence::kBiggerUnit * typical;
    estimates[j] = stranger ? 0.0F : estimates[j];
    scaled[j] = own && scaled[j] > 0.0F ? scaled[j] : typical;
  }
  for (std::size_t j = 0; j < count; ++j) {
    const double square = square_of(values[j]);
    const double share = square > 0.0 ? v : 0.0;
    const auto evidence = static_cast<float>(counts[j] + share);
    const auto squares = static_cast<float>(scaled[j] + share * square);
    const double term = square * evidence / squares;
    counts[j] = evidence;
    scaled[j] = squares;
    terms[j] = square > 0.0 ? term : 0.0;
  }
}

void rate(const float* __restrict values, std::size_t count, double prior, const float* __restrict scaled,
          const float* __restrict counts, float* __restrict steps, double* __restrict terms) {
  for (std::size_t j = 0; j < count; ++j) {
    const double square = square_of(values[j]);
    const bool counts_here = square > 0.0;
    const double rate = counts[j] / (scaled[j] * (counts[j] + prior));
    const auto step = static_cast<float>(rate * values[j]);
    const double term = rate * square;
    steps[j] = counts_here ? step : 0.0F;
    terms[j] = counts_here ? term : 0.0;
  }
}

void claim(std::size_t count, double step, double prior, const float* __restrict scaled, const float* __restrict counts,
           const float* __restrict estimates, float* __restrict steps, double* __restrict claims) {
  for (std::size_t j = 0; j < count; ++j) {
    const double unit = __builtin_sqrt(static_cast<double>(scaled[j]) / counts[j]);
    const bool moves = steps[j] != 0.0F;
    const auto moved = static_cast<float>(step * steps[j] * unit);
    steps[j] = moves ? moved : 0.0F;
    const double after = static_cast<double>(estimates[j] + steps[j]);
    const double squared = after * after;
    claims[j] = moves ? squared * squared * (counts[j] + prior) : 0.0;
  }
}

double sum(const double* terms, std::size_t count) {
  return sum_in_lanes(count, [terms](std::size_t j) { return terms[j]; });
}

}  // namespace

const RowSteps& row_steps() {
  static const RowSteps best = {Compiled<&meet>::best(), Compiled<&rate>::best(), Compiled<&claim>::best(),
                                Compiled<&sum>::best()};
  return best;
}

}  // namespace fsstream

#include "learn/class_steps.hpp"

#include "core/ask.hpp"
#include "core/multiversion.hpp"
#include "learn/row_steps.hpp"

namespace fsstream {

namespace {

std::size_t meet(const SharedEvidence& shared, const float* __restrict values, const std::uint32_t* __restrict listed,
                 std::size_t count, float v, float* __restrict counts, float* __restrict signs) {
  for (std::size_t i = 0; i < count; ++i) {
    counts[i] = shared.cells[shared.places[listed[i]] & shared.mask];
    signs[i] = values[listed[i]];
  }
  const std::size_t whole = whole_lanes(count);
  for (std::size_t i = count; i < whole; ++i) counts[i] = signs[i] = 0.0F;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < whole; ++i) {
    const float sign = signs[i] < 0.0F ? -1.0F : 1.0F;
    signs[i] = signs[i] * signs[i] >= Evidence::kLeastSquare ? sign : 0.0F;
    counts[i] += signs[i] != 0.0F ? v : 0.0F;
    entries += signs[i] != 0.0F ? 1 : 0;
  }
  for (std::size_t i = 0; i < count; ++i) shared.cells[shared.places[listed[i]] & shared.mask] = counts[i];
  return entries;
}

void rate(std::size_t count, float prior, const float* __restrict counts, float* __restrict signs,
          float* __restrict terms, float* __restrict statures) {
  const std::size_t whole = whole_lanes(count);
  for (std::size_t i = 0; i < whole; ++i) {
    const float evidence = counts[i] + prior;
    const float slow = __builtin_sqrtf(Evidence::kSettled * evidence);
    const float rate = 1.0F / (evidence < slow ? evidence : slow);
    statures[i] = kNewcomer * __builtin_sqrtf(__builtin_sqrtf(evidence));
    terms[i] = signs[i] != 0.0F ? signs[i] * signs[i] * rate : 0.0F;
    signs[i] *= rate;
  }
}

void sizes(std::size_t count, float prior, const float* __restrict scaled, const float* __restrict counts,
           float* __restrict sizes) {
  const std::size_t whole = whole_lanes(count);
  for (std::size_t i = 0; i < whole; ++i) {
    const float unit = __builtin_sqrtf(scaled[i] / counts[i]);
    sizes[i] = (scaled[i] > 0.0F ? unit : 1.0F) * __builtin_sqrtf(__builtin_sqrtf(counts[i] + prior));
  }
}

// Addresses of a lane first, in wide registers, then the requests.
void ask(const KeyBuckets& buckets, const SharedEvidence& shared, const std::uint32_t* homes, std::size_t count) {
  const auto keys = reinterpret_cast<std::uintptr_t>(buckets.keys);
  const auto cells = reinterpret_cast<std::uintptr_t>(shared.cells);
  for (std::size_t j = 0; j < count; j += kSlack) {
    const std::size_t some = count - j < kSlack ? count - j : kSlack;
    std::uintptr_t lines[kSlack];
    for (std::size_t i = 0; i < some; ++i) {
      const std::size_t bucket = std::size_t{homes[j + i] & buckets.mask} * KeyBuckets::kSize * sizeof(std::uint64_t);
      const std::size_t cell = std::size_t{shared.places[j + i] & shared.mask} * sizeof(float);
      lines[i] = buckets.may_hold(homes[j + i]) ? keys + bucket : cells + cell;
    }
    for (std::size_t i = 0; i < some; ++i) ask_to_read(reinterpret_cast<const void*>(lines[i]));
  }
}

}  // namespace

void warm_up(const KeyBuckets& buckets, const SharedEvidence& shared, const std::uint32_t* homes, std::size_t count) {
  static const auto best = Compiled<&ask>::best();
  best(buckets, shared, homes, count);
}

const ClassSteps& class_steps() {
  static const ClassSteps best = {Compiled<&meet>::best(), Compiled<&rate>::best(), Compiled<&sizes>::best()};
  return best;
}

}  // namespace fsstream

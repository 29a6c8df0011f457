// Limits of the online learners, found before anything is changed.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "core/batch.hpp"
#include "core/errors.hpp"
#include "core/state.hpp"
#include "learn/loss.hpp"

namespace fsstream {

// Sub-gradients up to here leave squares, sums and products of scores finite.
inline constexpr double kLargestGradient = 1e90;

// No float times a slope up to here is out of range.
inline constexpr double kTameSlope = 1e50;

inline void check_range(const Batch& batch, std::size_t row, double slope) {
  if (std::abs(slope) < kTameSlope) return;
  double largest = 1.0;
  for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j)
    largest = std::max(largest, std::abs(static_cast<double>(batch.values[j])));
  if (!(std::abs(slope) * largest < kLargestGradient))
    throw Diverged("the weights left the range of numbers\nlower --learning-rate, or scale the features' values");
}

// A score this many times the largest target (1 for classes) comes from steps that grow.
inline constexpr double kRunaway = 1e9;
// With bounded slopes weights grow by bounded steps: only the range of numbers is a limit.
inline constexpr double kOutOfRange = 1e30;

inline double largest_score(const Loss& loss, double largest_target) {
  return loss.bounded_slope() ? kOutOfRange : kRunaway * largest_target;
}

inline void check_score(double score, double limit, std::uint64_t row) {
  if (std::abs(score) <= limit) return;  // false for NaN, too
  throw Diverged("the weights diverged\nlower --learning-rate, or scale the rows (--normalize l2)", row);
}

// Of learners that keep something of every feature seen; some can do it in a sketch.
enum class Store { kTableOnly, kTableOrSketch };

// Before the rows of the batch are learned: what will then be needed, beside the batch where that is long.
inline void check_memory(const Batch& batch, std::size_t needed, std::size_t limit, std::size_t features, Store store) {
  constexpr std::size_t kScratch = 16;  // bytes that learning an entry takes
  const std::size_t beyond = batch.bytes_beyond_blocks();
  if (needed + (beyond == 0 ? 0 : beyond + kScratch * batch.entries()) <= limit) return;
  throw LimitExceeded("the state of " + std::to_string(features) + " features does not fit into " +
                      (limit >> 20 < 10 ? std::to_string(limit >> 10) + " KB" : std::to_string(limit >> 20) + " MB") +
                      "\ngive more --memory, or " +
                      (store == Store::kTableOrSketch ? "keep the state in a sketch: --set store=sketch"
                                                      : "take b-arda or b-amd with --set store=sketch"));
}

// What a saved state must promise before it is taken over.
inline bool in_range(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double x) { return std::abs(x) < kLargestGradient * kLargestGradient * 1e18; });
}
inline bool not_negative(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x >= 0.0; });
}
inline void check_state(bool good) {
  if (!good) throw BadState("state: numbers that no run of these options could have reached");
}

}  // namespace fsstream

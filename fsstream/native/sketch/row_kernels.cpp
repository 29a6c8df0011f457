#include "sketch/row_kernels.hpp"

#include <algorithm>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "hash/mix.hpp"
#include "sketch/by_depth.hpp"
#include "sketch/find_key.hpp"
#include "sketch/median.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kAtOnce = 64;  // entries, whose numbers lie side by side

inline float magnitude(float x) { return x < 0 ? -x : x; }

template <int D>
inline void hash(const std::uint64_t* keys, std::size_t count, const std::uint64_t* seeds, std::uint32_t cell_mask,
                 std::uint32_t* columns, std::size_t stride) {
  const std::uint32_t keep = cell_mask | kSignBit;
  for (int word = 0; word <= D / 2; ++word) {
    const std::uint64_t seed = seeds[word];
    // The last high half is the home in the active set, which wants all its bits.
    const std::uint32_t keep_high = word == D / 2 ? ~std::uint32_t{0} : keep;
    std::uint32_t* __restrict low = columns + static_cast<std::size_t>(2 * word) * stride;
    std::uint32_t* __restrict high = low + stride;
    for (std::size_t j = 0; j < count; ++j) {
      const std::uint64_t mixed = mix64(keys[j] ^ seed);
      low[j] = static_cast<std::uint32_t>(mixed) & keep;
      high[j] = static_cast<std::uint32_t>(mixed >> 32) & keep_high;
    }
  }
}

// Cells are read one by one; signs and medians are made of many at a time, without a branch to be guessed.
template <int D>
inline void estimate_some(const SketchRows& rows, std::size_t first, std::size_t count, float* estimates) {
  float seen[D][kAtOnce];
  for (std::size_t r = 0; r < D; ++r) {
    float* const cells = cells_of(rows, r);
    const std::uint32_t* const places = places_of(rows, r, first);
    for (std::size_t j = 0; j < count; ++j) {
      std::uint32_t place = places[j];
      asm("" : "+r"(place));  // taking places out of a wide register again would take longer
      seen[r][j] = cell_at(cells, place);
    }
    for (std::size_t j = 0; j < count; ++j) seen[r][j] = signed_by(seen[r][j], places[j]);
  }
  medians(seen, count, estimates);
}

template <int D>
inline void estimate(const SketchRows& rows, std::size_t count, float* estimates) {
  for (std::size_t first = 0; first < count; first += kAtOnce)
    estimate_some<D>(rows, first, std::min(kAtOnce, count - first), estimates + first);
}

// What does not count adds 0 times its value.
template <int D>
inline double score_above(const SketchRows& rows, std::size_t count, const float* values, float threshold,
                          float* estimates) {
  static_assert(kAtOnce % kLanes == 0);
  LaneSums sums;
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, count - first);
    float* const found = estimates + first;
    estimate_some<D>(rows, first, some, found);
    float counted[kAtOnce];
    for (std::size_t j = 0; j < some; ++j) counted[j] = magnitude(found[j]) > threshold ? found[j] : 0.0F;
    sums.add(some, [&, first](std::size_t j) {
      return static_cast<double>(counted[j]) * static_cast<double>(values[first + j]);
    });
  }
  return sums.total();
}

// All cells of an entry, then the next, as their signed steps lie ready.
template <int D>
inline void add_some(const SketchRows& rows, std::size_t first, std::size_t count, const float* steps) {
  float changes[D][kAtOnce];
  const std::uint32_t* places[D];
  float* cells[D];
  for (std::size_t r = 0; r < D; ++r) {
    places[r] = places_of(rows, r, first);
    cells[r] = cells_of(rows, r);
    for (std::size_t j = 0; j < count; ++j) changes[r][j] = signed_by(steps[first + j], places[r][j]);
  }
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t r = 0; r < D; ++r) cell_at(cells[r], places[r][j]) += changes[r][j];
}

template <int D>
inline void add(const SketchRows& rows, std::size_t count, const float* steps) {
  for (std::size_t first = 0; first < count; first += kAtOnce)
    add_some<D>(rows, first, std::min(kAtOnce, count - first), steps);
}

inline std::size_t step_above(const float* weights, const float* values, std::size_t count, float coefficient,
                              float threshold, float* steps, std::uint32_t* listed) {
  std::size_t above = 0;
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t end = std::min(first + kAtOnce, count);
    std::uint32_t is_above[kAtOnce];
    for (std::size_t j = first; j < end; ++j) {
      steps[j] = coefficient * values[j];
      is_above[j - first] = magnitude(weights[j] + steps[j]) > threshold ? 1 : 0;
    }
    for (std::size_t j = first; j < end; ++j) {
      listed[above] = static_cast<std::uint32_t>(j);
      above += is_above[j - first];
    }
  }
  return above;
}

inline void find_listed(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                        const std::uint32_t* listed, std::size_t count, std::uint32_t* slots) {
  for (std::size_t i = 0; i < count; ++i) slots[i] = find_key(buckets, keys[listed[i]], homes[listed[i]]);
}

inline std::size_t split(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                         std::size_t count, std::uint32_t* slots, std::uint32_t* present, std::uint32_t* absent) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const bool maybe = buckets.may_hold(homes[j]);
    const std::uint32_t slot = maybe ? find_key(buckets, keys[j], homes[j]) : KeyBuckets::kNone;
    slots[found] = slot;
    present[found] = absent[j - found] = static_cast<std::uint32_t>(j);
    found += slot != KeyBuckets::kNone ? 1 : 0;
  }
  return found;
}

double dot_slots(const float* table, std::uint32_t stride, const std::uint32_t* slots, const float* values,
                 std::size_t count) {
  return sum_in_lanes(count, [=](std::size_t i) {
    return static_cast<double>(table[slots[i] * stride]) * static_cast<double>(values[i]);
  });
}

}  // namespace

template <int D>
const SketchKernels& portable_sketch_kernels() {
  static const SketchKernels kernels = {Compiled<&hash<D>>::best(), Compiled<&estimate<D>>::best(),
                                        Compiled<&score_above<D>>::best(), Compiled<&add<D>>::best()};
  return kernels;
}

const RowKernels& portable_row_kernels() {
  static const RowKernels kernels = {Compiled<&step_above>::best(), Compiled<&find_listed>::best(),
                                     Compiled<&split>::best(), &dot_slots};
  return kernels;
}

const SketchKernels& sketch_kernels(int depth) {
  const bool wide_machine = instruction_set() == InstructionSet::kAvx512;
  if (const auto* wide = wide_machine ? wide_sketch_kernels(depth) : nullptr; wide != nullptr) return *wide;
  return *by_depth(depth, [](auto d) { return &portable_sketch_kernels<d()>(); });
}

const RowKernels& row_kernels() {
  const RowKernels* wide = instruction_set() == InstructionSet::kAvx512 ? wide_row_kernels() : nullptr;
  return wide != nullptr ? *wide : portable_row_kernels();
}

template const SketchKernels& portable_sketch_kernels<1>();
template const SketchKernels& portable_sketch_kernels<3>();
template const SketchKernels& portable_sketch_kernels<5>();
template const SketchKernels& portable_sketch_kernels<7>();

}  // namespace fsstream

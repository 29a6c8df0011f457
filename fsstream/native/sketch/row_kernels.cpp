#include "sketch/row_kernels.hpp"

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "hash/mix.hpp"
#include "sketch/by_depth.hpp"
#include "sketch/find_key.hpp"
#include "sketch/median.hpp"

namespace fsstream {

namespace {

constexpr std::uint32_t kIndex = kSignBit - 1;

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

template <int D>
void estimate(const SketchRows& rows, std::size_t count, float* estimates) {
  for (std::size_t j = 0; j < count; ++j) {
    float seen[D];
    for (int r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[static_cast<std::size_t>(r) * rows.stride + j];
      seen[r] = signed_by(rows.cells[static_cast<std::size_t>(r) * rows.width + (place & kIndex)], place);
    }
    estimates[j] = median(seen);
  }
}

template <int D>
double score_above(const SketchRows& rows, std::size_t count, const float* values, float threshold, float* estimates) {
  estimate<D>(rows, count, estimates);
  return sum_in_lanes(count, [=](std::size_t j) {
    const double product = static_cast<double>(estimates[j]) * static_cast<double>(values[j]);
    return magnitude(estimates[j]) > threshold ? product : 0.0;
  });
}

template <int D>
void add(const SketchRows& rows, std::size_t count, const float* steps) {
  for (int r = 0; r < D; ++r) {
    float* cells = rows.cells + static_cast<std::size_t>(r) * rows.width;
    const std::uint32_t* places = rows.columns + static_cast<std::size_t>(r) * rows.stride;
    for (std::size_t j = 0; j < count; ++j) cells[places[j] & kIndex] += signed_by(steps[j], places[j]);
  }
}

std::size_t step_above(const float* weights, const float* values, std::size_t count, float coefficient, float threshold,
                       float* steps, std::uint32_t* listed) {
  std::size_t above = 0;
  for (std::size_t j = 0; j < count; ++j) {
    steps[j] = coefficient * values[j];
    listed[above] = static_cast<std::uint32_t>(j);
    above += magnitude(weights[j] + steps[j]) > threshold ? 1 : 0;
  }
  return above;
}

void find_listed(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes,
                 const std::uint32_t* listed, std::size_t count, std::uint32_t* slots) {
  for (std::size_t i = 0; i < count; ++i) slots[i] = find_key(buckets, keys[listed[i]], homes[listed[i]]);
}

std::size_t split(const KeyBuckets& buckets, const std::uint64_t* keys, const std::uint32_t* homes, std::size_t count,
                  std::uint32_t* slots, std::uint32_t* present, std::uint32_t* absent) {
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
  static const SketchKernels kernels = {Compiled<&hash<D>>::best(), &estimate<D>, &score_above<D>, &add<D>};
  return kernels;
}

const RowKernels& portable_row_kernels() {
  static const RowKernels kernels = {&step_above, &find_listed, &split, &dot_slots};
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

#include "sketch/block_kernels.hpp"

#include <algorithm>

#include "core/multiversion.hpp"
#include "hash/mix.hpp"
#include "sketch/by_depth.hpp"
#include "sketch/median.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kAtOnce = 64;  // entries, whose numbers lie side by side

void hash(const std::uint64_t* __restrict keys, std::size_t count, std::uint64_t seed, std::uint32_t block_mask,
          std::uint32_t* __restrict blocks, std::uint32_t* __restrict bits) {
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint64_t mixed = mix64(keys[j] ^ seed);
    blocks[j] = static_cast<std::uint32_t>(mixed) & block_mask;
    bits[j] = static_cast<std::uint32_t>(mixed >> 32);
  }
}

template <int D>
inline float* block_of(const BlockRows& rows, std::size_t j) {
  return rows.cells + std::size_t{rows.blocks[j]} * BlockLayout<D>::kBlock;
}

template <int D>
inline void estimate_some(const BlockRows& rows, std::size_t first, std::size_t count, float* estimates) {
  using Layout = BlockLayout<D>;
  float seen[D][kAtOnce];
  for (std::size_t j = 0; j < count; ++j) {
    const float* block = block_of<D>(rows, first + j);
    const std::uint32_t bits = rows.bits[first + j];
    for (unsigned r = 0; r < D; ++r) seen[r][j] = signed_by(block[Layout::cell(bits, r)], Layout::sign(bits, r));
  }
  medians(seen, count, estimates);
}

template <int D>
inline void estimate(const BlockRows& rows, std::size_t count, float* estimates) {
  for (std::size_t first = 0; first < count; first += kAtOnce)
    estimate_some<D>(rows, first, std::min(kAtOnce, count - first), estimates + first);
}

template <int D>
void add(const BlockRows& rows, std::size_t count, const float* steps) {
  using Layout = BlockLayout<D>;
  for (std::size_t j = 0; j < count; ++j) {
    float* block = block_of<D>(rows, j);
    for (unsigned r = 0; r < D; ++r)
      block[Layout::cell(rows.bits[j], r)] += signed_by(steps[j], Layout::sign(rows.bits[j], r));
  }
}

template <int D>
inline void estimate_and_pairs(const BlockRows& rows, std::size_t count, float* estimates, float* first,
                               float* second) {
  estimate<D>(rows, count, estimates);
  for (std::size_t j = 0; j < count; ++j) {
    const float* pair = block_of<D>(rows, j) + BlockLayout<D>::pair(rows.bits[j]);
    first[j] = pair[0];
    second[j] = pair[1];
  }
}

template <int D>
void add_and_set_pairs(const BlockRows& rows, std::size_t count, const float* steps, const float* first,
                       const float* second) {
  add<D>(rows, count, steps);
  for (std::size_t j = 0; j < count; ++j) {
    float* pair = block_of<D>(rows, j) + BlockLayout<D>::pair(rows.bits[j]);
    pair[0] = first[j];
    pair[1] = second[j];
  }
}

}  // namespace

template <int D>
const BlockKernels& portable_block_kernels() {
  static const BlockKernels kernels = {Compiled<&hash>::best(), Compiled<&estimate<D>>::best(), &add<D>,
                                       Compiled<&estimate_and_pairs<D>>::best(), &add_and_set_pairs<D>};
  return kernels;
}

const BlockKernels& block_kernels(int depth) {
  const bool wide_machine = instruction_set() == InstructionSet::kAvx512;
  if (const auto* wide = wide_machine ? wide_block_kernels(depth) : nullptr; wide != nullptr) return *wide;
  return *by_depth(depth, [](auto d) { return &portable_block_kernels<d()>(); });
}

template const BlockKernels& portable_block_kernels<1>();
template const BlockKernels& portable_block_kernels<3>();
template const BlockKernels& portable_block_kernels<5>();
template const BlockKernels& portable_block_kernels<7>();

}  // namespace fsstream

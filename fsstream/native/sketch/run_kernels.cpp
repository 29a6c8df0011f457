#include "sketch/run_kernels.hpp"

#include "core/ask.hpp"
#include "core/multiversion.hpp"
#include "sketch/find_key.hpp"

namespace fsstream {

namespace {

inline std::uintptr_t address_of(const void* line) { return reinterpret_cast<std::uintptr_t>(line); }

// Without a branch: which one it is cannot be guessed.
inline void ask_for_either(bool first, std::uintptr_t one, std::uintptr_t other) {
  const std::uintptr_t chosen = -std::uintptr_t{first};
  ask_to_read(reinterpret_cast<const void*>((one & chosen) | (other & ~chosen)));
}

inline void look_up(const KeyBuckets& buckets, const RunEntries& run, std::size_t count, std::uint32_t* maybe,
                    std::uint32_t* slots) {
  const std::uint32_t* homes = run.places.bits;
  const auto block_of = [&run](std::size_t j) {
    return address_of(run.places.cells + std::size_t{run.places.blocks[j]} * kBlockFloats);
  };
  std::size_t listed = 0;
  for (std::size_t j = 0; j < count; ++j) {
    slots[j] = KeyBuckets::kNone;
    maybe[listed] = static_cast<std::uint32_t>(j);
    const bool passed = buckets.may_hold(homes[j]);
    listed += passed ? 1 : 0;
    const auto bucket = address_of(buckets.keys + std::size_t{homes[j] & buckets.mask} * KeyBuckets::kSize);
    ask_for_either(passed, bucket, block_of(j));
  }
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t j = maybe[i];
    slots[j] = find_key(buckets, run.keys[j], homes[j]);
    const auto numbers = address_of(buckets.numbers + std::size_t{slots[j]} * buckets.stride);
    ask_for_either(slots[j] != KeyBuckets::kNone, numbers, block_of(j));
  }
}

inline void mark(const std::uint64_t* keys, std::size_t count, std::uint64_t key, std::uint32_t slot,
                 std::uint32_t* slots) {
  for (std::size_t j = 0; j < count; ++j) slots[j] = keys[j] == key ? slot : slots[j];
}

std::size_t part_row(const RowEntries& row, std::size_t count, const PartedRow& out) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t other = j - found;
    out.slots[found] = row.slots[j];
    out.present[found] = out.absent[other] = static_cast<std::uint32_t>(j);
    out.present_values[found] = out.absent_values[other] = row.values[j];
    out.absent_places[other] = row.places[j];
    out.absent_homes[other] = row.homes[j];
    found += row.slots[j] != KeyBuckets::kNone ? 1 : 0;
  }
  return found;
}

}  // namespace

const RunKernels& portable_run_kernels() {
  static const RunKernels kernels = {Compiled<&look_up>::best(), Compiled<&mark>::best(), &part_row};
  return kernels;
}

const RunKernels& run_kernels() {
  const RunKernels* wide = instruction_set() == InstructionSet::kAvx512 ? wide_run_kernels() : nullptr;
  return wide != nullptr ? *wide : portable_run_kernels();
}

}  // namespace fsstream

#include "parse/row_merge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace fsstream {

namespace {

constexpr std::size_t kShort = 256;    // rows of up to so many entries
constexpr std::size_t kSparse = 8192;  // cells, in which up to kShort entries hardly meet

inline std::size_t slot_of(Key key, unsigned shift) { return (key * 0x9e3779b97f4a7c15ULL) >> shift; }

bool strictly_ascending(const Key* keys, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i)
    if (keys[i] <= keys[i - 1]) return false;
  return true;
}

}  // namespace

// Room for new stamps of so many entries, in the first `slots` slots.
void RowMerge::prepare(std::size_t entries, std::size_t slots) {
  const std::size_t known = slots_.size();
  if (slots > known) {
    slots_.reserve(slots);
    slots_.set_size(slots);
    std::memset(slots_.data() + known, 0, (slots - known) * sizeof(std::uint32_t));
  }
  if (entries >= std::numeric_limits<std::uint32_t>::max() - stamp_end_) {
    std::memset(slots_.data(), 0, slots_.size() * sizeof(std::uint32_t));
    stamp_end_ = 0;
  }
  stamp_ = stamp_end_ + 1;
  stamp_end_ += static_cast<std::uint32_t>(entries);
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots));
}

// Each entry marks its cell. Those that find the mark of this row there, few in so sparse a table, are compared with
// all before them.
bool RowMerge::all_differ(const Key* keys, std::size_t count) {
  constexpr unsigned kShift = 64 - std::countr_zero(kSparse);
  marks_.resize(kSparse);
  const std::uint16_t here = ++mark_;  // begins anew some day: an old mark costs a comparison
  std::uint16_t* const marks = marks_.data();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t& mark = marks[slot_of(keys[i], kShift)];
    if (mark == here && std::find(keys, keys + i, keys[i]) != keys + i) [[unlikely]]
      return false;
    mark = here;
  }
  return true;
}

std::size_t RowMerge::place(const Key* keys, std::size_t count, Key key) {
  const std::size_t mask = (std::size_t{1} << (64 - shift_)) - 1;
  std::uint32_t* const slots = slots_.data();
  for (std::size_t slot = slot_of(key, shift_);; slot = (slot + 1) & mask) {
    const std::uint32_t stamp = slots[slot];
    if (stamp < stamp_) {
      slots[slot] = stamp_ + static_cast<std::uint32_t>(count);
      return count;
    }
    if (keys[stamp - stamp_] == key) return stamp - stamp_;
  }
}

bool RowMerge::merge(Batch& batch) {
  const std::size_t begin = batch.row_starts.back();
  const std::size_t count = batch.keys.size() - begin;
  const Key* const keys = batch.keys.data() + begin;
  if (strictly_ascending(keys, count)) return true;
  if (count <= kShort && !repeats_ && all_differ(keys, count)) return true;
  // Small rows get a sparse table, where probes hardly ever meet; large ones a compact one.
  prepare(count, std::bit_ceil(count * (count < 65536 ? 4 : 2)));
  for (std::size_t i = 0; i < count; ++i) {
    repeats_ = place(keys, i, keys[i]) != i;
    if (repeats_) return add_up(batch, begin, i);
  }
  return true;
}

// `repeated` is the first entry whose key has occurred before.
bool RowMerge::add_up(Batch& batch, std::size_t begin, std::size_t repeated) {
  const std::size_t count = batch.keys.size() - begin;
  Key* const keys = batch.keys.data() + begin;
  float* const values = batch.values.data() + begin;
  TextRef* const names = batch.naming == Naming::kText ? batch.names.data() + begin : nullptr;
  sums_.reserve(count);
  double* const sums = sums_.data();
  std::copy_n(values, repeated, sums);
  std::size_t kept = repeated;
  std::uint64_t collisions = 0;
  for (std::size_t i = repeated; i < count; ++i) {
    const std::size_t at = place(keys, kept, keys[i]);
    if (at != kept) {
      sums[at] += static_cast<double>(values[i]);
      collisions += names != nullptr && batch.view(names[i]) != batch.view(names[at]);
      continue;
    }
    keys[kept] = keys[i];
    sums[kept] = static_cast<double>(values[i]);
    if (names != nullptr) names[kept] = names[i];
    ++kept;
  }
  bool finite = true;
  for (std::size_t i = 0; i < kept; ++i) {
    values[i] = static_cast<float>(sums[i]);
    finite = finite && std::isfinite(values[i]);
  }
  batch.keys.set_size(begin + kept);
  batch.values.set_size(begin + kept);
  if (names != nullptr) batch.names.set_size(begin + kept);
  if (finite) batch.collisions += collisions;
  return finite;
}

}  // namespace fsstream

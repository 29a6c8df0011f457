// ActiveSet: the features that count right now, key -> weight and name.
//
// Open addressing in buckets of eight keys, one cache line each, filled from the left; a key
// lives in its home bucket or, where that is full, in the next. So a lookup is one wide
// comparison. Nothing is removed singly: when the set holds `capacity` (2k) keys, prune keeps
// the k best and rebuilds. Ties go to the smaller key, so what is kept never depends on
// where things lie in the table.
// Beside it lies a filter of eight bits a slot that knows most absent keys.
//
// Weights are numbers in the caller's unit. A set with several `numbers` a key keeps more of the caller's
// beside each weight, in the same cache line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ask.hpp"
#include "core/batch.hpp"
#include "core/pages.hpp"
#include "core/state.hpp"
#include "sketch/name_pool.hpp"
#include "sketch/row_kernels.hpp"

namespace fsstream {

class ActiveSet {
 public:
  static constexpr std::uint32_t kNone = KeyBuckets::kNone;
  static constexpr std::uint32_t kBucket = KeyBuckets::kSize;

  struct Entry {
    Key key;
    float weight;
    std::uint32_t slot;
  };

  // `numbers` a key: the weight and what the caller keeps with it.
  explicit ActiveSet(std::size_t capacity, std::uint32_t numbers = 1);

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool full() const { return size_ >= capacity_; }
  // Every slot is below it.
  std::size_t slots() const { return keys_.size(); }
  std::size_t bytes() const;

  // `home`: any well mixed 32 bits of the key, always the same for a key.
  std::uint32_t find(Key key, std::uint32_t home) const {
    constexpr std::uint32_t kFirst = 0;
    std::uint32_t slot;
    row_->find_listed(buckets(), &key, &home, &kFirst, 1, &slot);
    return slot;
  }
  // What the kernels that look up whole rows need.
  KeyBuckets buckets() const {
    return {keys_.data(), used_.data(), bucket_mask_, filter_.data(), filter_shift_, weights_.data(), stride_};
  }
  // The weight in `slot` is weights()[slot * stride()].
  const float* weights() const { return weights_.data(); }
  std::uint32_t stride() const { return stride_; }
  // The key must be absent and the set not full. Numbers beside the weight are the caller's to fill.
  std::uint32_t insert(Key key, std::uint32_t home, float weight, NameRef name);
  NameRef add_name(const Batch& batch, std::size_t j) { return names_.add(batch, j); }
  NameRef add_name(std::string_view name, Key key);

  float& weight(std::uint32_t slot) { return *numbers(slot); }
  float weight(std::uint32_t slot) const { return *numbers(slot); }
  // The weight and what follows it.
  float* numbers(std::uint32_t slot) { return weights_.data() + std::size_t{slot} * stride_; }
  const float* numbers(std::uint32_t slot) const { return weights_.data() + std::size_t{slot} * stride_; }
  Key key(std::uint32_t slot) const { return keys_[slot]; }
  std::string name(std::uint32_t slot) const { return names_.spell(refs_[slot], keys_[slot]); }
  std::vector<Entry> entries() const;
  void list_entries(std::vector<Entry>& out) const;
  void scale_weights(double factor);

  // Counts features of a row that are met under another name than they came with: `for_each(visit)` calls
  // visit(slot, entry of the batch) for each.
  template <class ForEach>
  void check_names(const Batch& batch, ForEach for_each) {
    if (batch.naming != Naming::kText && stored_names_ == 0) return;  // keys that spell their names cannot differ
    for_each([&](std::uint32_t slot, std::size_t j) { ask_for_names(slot, batch, j); });
    for_each([&](std::uint32_t slot, std::size_t j) { check_name(slot, batch, j); });
  }
  std::uint64_t collisions() const { return collisions_; }
  // Name of the feature and the other name, of the first few collisions.
  const std::vector<std::pair<std::string, std::string>>& collided() const { return collided_; }

  // `all` are this set's entries, with the weights to judge by: the `keep` best stay, in `all` and in the
  // set, with their own numbers. `leaving(others)` is called while the others are still there, a span of them in no
  // particular order. `home_of(key)` must give what insert was given.
  template <class HomeOf, class Leaving>
  void prune(std::vector<Entry>& all, std::size_t keep, HomeOf home_of, Leaving leaving) {
    leaving(part(all, keep));
    all.resize(std::min(all.size(), keep));
    put_back(lift(all), home_of);
  }
  template <class HomeOf>
  void prune(std::vector<Entry>& all, std::size_t keep, HomeOf home_of) {
    prune(all, keep, home_of, [](std::span<const Entry>) {});
  }
  static void sort_by_key(std::span<Entry> entries);

  // Only `kept` of this set's entries stay, in a table for another capacity.
  template <class HomeOf>
  void rehouse(const std::vector<Entry>& kept, std::size_t capacity, HomeOf home_of) {
    const std::vector<Saved>& lifted = lift(kept);
    if (capacity != capacity_) allocate(capacity);
    put_back(lifted, home_of);
  }

  void save(StateWriter& out) const;
  template <class HomeOf>
  void load(const StateReader& in, HomeOf home_of) {
    clear();
    put_back(read(in), home_of);
  }

 private:
  static constexpr std::uint32_t kMostNumbers = 4;
  struct Saved {
    Key key;
    NameRef name;
    std::array<float, kMostNumbers> numbers;
  };
  template <class HomeOf>
  void put_back(const std::vector<Saved>& lifted, HomeOf home_of) {
    for (const Saved& saved : lifted) {
      const std::uint32_t slot = insert(saved.key, home_of(saved.key), 0.0F, saved.name);
      std::copy_n(saved.numbers.begin(), stride_, numbers(slot));
    }
  }
  void check_name(std::uint32_t slot, const Batch& batch, std::size_t j) {
    const NameRef& ref = refs_[slot];
    const bool same = batch.naming == Naming::kText && ref.stored() && names_.is(ref, batch.view(batch.names[j]));
    if (!same) compare_names(slot, batch, j);
  }
  void ask_for_names(std::uint32_t slot, const Batch& batch, std::size_t j) const {
    ask_to_read(refs_.data() + slot);
    if (batch.naming == Naming::kText) ask_to_read(batch.view(batch.names[j]).data());
  }
  void compare_names(std::uint32_t slot, const Batch& batch, std::size_t j);
  void allocate(std::size_t capacity);
  void clear();
  static std::span<Entry> part(std::span<Entry> all, std::size_t keep);
  std::vector<Saved> read(const StateReader& in);
  const std::vector<Saved>& lift(std::span<const Entry> kept);

  std::size_t capacity_ = 0;
  std::uint32_t stride_;  // numbers a key, rounded up to a power of two
  std::uint32_t bucket_mask_ = 0;
  const RowKernels* row_ = &row_kernels();
  std::size_t size_ = 0;
  std::size_t stored_names_ = 0;
  Pages<Key> keys_;
  Pages<float> weights_;
  Pages<NameRef> refs_;
  Pages<std::uint8_t> used_;
  Pages<std::uint32_t> filter_;
  int filter_shift_ = 0;
  NamePool names_;
  std::vector<Saved> lifted_;  // kept for its room: a set is pruned over and over
  std::uint64_t collisions_ = 0;
  std::vector<std::pair<std::string, std::string>> collided_;
};

}  // namespace fsstream

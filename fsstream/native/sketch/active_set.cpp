#include "sketch/active_set.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "core/larger_first.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kReportedCollisions = 5;

std::size_t buckets_for(std::size_t capacity) {
  if (capacity > (std::size_t{1} << 30)) throw std::invalid_argument("an active set holds at most 2^30 keys");
  // At most half full, and a set of one bucket has room to spare.
  return std::bit_ceil(std::max<std::size_t>(2 * capacity / ActiveSet::kBucket, 1));
}

}  // namespace

ActiveSet::ActiveSet(std::size_t capacity, std::uint32_t numbers) : stride_(std::bit_ceil(numbers)) {
  if (numbers == 0 || numbers > kMostNumbers) throw std::invalid_argument("an active set keeps 1 to 4 numbers a key");
  allocate(capacity);
}

void ActiveSet::allocate(std::size_t capacity) {
  capacity_ = capacity;
  bucket_mask_ = static_cast<std::uint32_t>(buckets_for(capacity) - 1);
  const std::size_t buckets = std::size_t{bucket_mask_} + 1;
  keys_ = Pages<Key>(buckets * kBucket);
  weights_ = Pages<float>(buckets * kBucket * stride_);
  refs_ = Pages<NameRef>(buckets * kBucket);
  used_ = Pages<std::uint8_t>(buckets);
  const std::size_t filter_bits = std::min<std::size_t>(buckets * kBucket * 8, std::size_t{1} << 31);
  filter_ = Pages<std::uint32_t>(filter_bits / 32);
  filter_shift_ = 32 - std::countr_zero(filter_bits);
}

std::size_t ActiveSet::bytes() const {
  return keys_.bytes() + weights_.bytes() + refs_.bytes() + used_.bytes() + filter_.bytes() + names_.bytes();
}

std::uint32_t ActiveSet::insert(Key key, std::uint32_t home, float weight, NameRef name) {
  const std::uint32_t bit = home >> filter_shift_;
  filter_[bit / 32] |= std::uint32_t{1} << (bit % 32);
  std::uint32_t bucket = home & bucket_mask_;
  while (used_[bucket] == kBucket) bucket = (bucket + 1) & bucket_mask_;
  const std::uint32_t slot = bucket * kBucket + used_[bucket]++;
  keys_[slot] = key;
  this->weight(slot) = weight;
  refs_[slot] = name;
  stored_names_ += name.stored() ? 1 : 0;
  ++size_;
  return slot;
}

NameRef ActiveSet::add_name(std::string_view name, Key key) {
  std::uint64_t number;
  if (canonical_decimal(name, number) && number == key) return NameRef::spelled(NameRef::kDecimal);
  return names_.add(name);
}

std::vector<ActiveSet::Entry> ActiveSet::entries() const {
  std::vector<Entry> found;
  list_entries(found);
  return found;
}

void ActiveSet::list_entries(std::vector<Entry>& out) const {
  out.clear();
  out.reserve(size_);
  for (std::uint32_t bucket = 0; bucket <= bucket_mask_; ++bucket)
    for (std::uint32_t slot = bucket * kBucket; slot < bucket * kBucket + used_[bucket]; ++slot)
      out.push_back({keys_[slot], weight(slot), slot});
}

void ActiveSet::scale_weights(double factor) {
  for (std::size_t i = 0; i < weights_.size(); i += stride_) weights_[i] = static_cast<float>(weights_[i] * factor);
}

// However they are spelled.
void ActiveSet::compare_names(std::uint32_t slot, const Batch& batch, std::size_t j) {
  std::string scratch;
  const std::string_view met = batch.name(j, scratch);
  std::string known = name(slot);
  if (met == known) return;
  ++collisions_;
  if (collided_.size() < kReportedCollisions) collided_.emplace_back(std::move(known), std::string(met));
}

// The best go to the front; returns the others.
std::span<ActiveSet::Entry> ActiveSet::part(std::span<Entry> all, std::size_t keep) {
  if (keep >= all.size()) return {};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep), all.end(), LargerFirst());
  return all.subspan(keep);
}

void ActiveSet::sort_by_key(std::span<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

const std::vector<ActiveSet::Saved>& ActiveSet::lift(std::span<const Entry> kept) {
  lifted_.clear();
  lifted_.reserve(kept.size());
  NamePool compacted;
  for (const Entry& entry : kept) {
    NameRef ref = refs_[entry.slot];
    if (ref.stored()) ref = compacted.add(names_.stored(ref));
    Saved& saved = lifted_.emplace_back(Saved{entry.key, ref, {}});
    std::copy_n(numbers(entry.slot), stride_, saved.numbers.begin());
  }
  clear();
  names_ = std::move(compacted);
  return lifted_;
}

void ActiveSet::clear() {
  std::memset(used_.data(), 0, used_.bytes());
  std::memset(filter_.data(), 0, filter_.bytes());
  size_ = 0;
  stored_names_ = 0;
  names_ = NamePool();
}

void ActiveSet::save(StateWriter& out) const {
  const auto found = entries();
  const auto ref_of = [&](const Entry& entry) { return refs_[entry.slot]; };
  put_each<std::uint64_t>(out, "active_keys", found.size(), [&](std::size_t i) { return found[i].key; });
  put_each<float>(out, "active_weights", found.size(), [&](std::size_t i) { return found[i].weight; });
  put_each<std::uint64_t>(out, "active_name_lengths", found.size(),
                          [&](std::size_t i) { return ref_of(found[i]).length; });
  std::size_t size = 0;
  for (const Entry& entry : found) size += ref_of(entry).stored() ? ref_of(entry).length : 0;
  StatePieces<char> names(out, "active_names", size);
  for (const Entry& entry : found)
    if (ref_of(entry).stored()) names.add(names_.stored(ref_of(entry)).data(), ref_of(entry).length);
  names.finish();
  out.put("collisions", std::span<const std::uint64_t>(&collisions_, 1));
}

std::vector<ActiveSet::Saved> ActiveSet::read(const StateReader& in) {
  const auto keys = in.words("active_keys");
  if (keys.size() > capacity_) throw BadState("state: more active features than the set holds");
  const auto weights = of_size(in.floats("active_weights"), keys.size(), "active_weights");
  const auto lengths = of_size(in.words("active_name_lengths"), keys.size(), "active_name_lengths");
  const auto names = in.bytes("active_names");
  collisions_ = of_size(in.words("collisions"), 1, "collisions")[0];
  std::vector<Saved> saved;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    NameRef ref = NameRef::spelled(static_cast<std::uint32_t>(lengths[i]));
    const bool derived =
        lengths[i] == NameRef::kDecimal || (lengths[i] > NameRef::kKmer && lengths[i] <= NameRef::kKmer + 32);
    if (!derived) {
      if (lengths[i] > names.size() - offset) throw BadState("state: names of active features are cut");
      ref = names_.add({names.data() + offset, static_cast<std::size_t>(lengths[i])});
      offset += lengths[i];
    }
    saved.push_back({keys[i], ref, {weights[i]}});
  }
  return saved;
}

}  // namespace fsstream

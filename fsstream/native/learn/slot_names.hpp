// Names of the features in a table, by slot. While no batch brings names that a key does not
// spell by itself, nothing is stored at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "core/state.hpp"
#include "learn/slot.hpp"
#include "sketch/name_pool.hpp"

namespace fsstream {

// One entry of this name, for a feature that comes without a batch; the name must outlive it.
inline Batch named(std::string_view name) {
  Batch one;
  one.start(name, nullptr);
  one.naming = Naming::kText;
  one.names.push_back({0, static_cast<std::uint32_t>(name.size())});
  return one;
}

class SlotNames {
 public:
  std::size_t bytes() const { return pool_.bytes() + refs_.size() * sizeof(NameRef); }

  // At most, of so many new slots; texts are counted once they are kept.
  std::size_t bytes_of(const Batch& batch, std::size_t slots) const {
    return batch.naming == Naming::kText || !refs_.empty() ? slots * sizeof(NameRef) : 0;
  }

  // Called between rows: `used` slots have their names, there may soon be `slots`.
  void reserve(const Batch& batch, std::size_t used, std::size_t slots) {
    const NameRef now =
        NameRef::spelled(batch.naming == Naming::kKmer ? NameRef::kKmer + static_cast<std::uint32_t>(batch.kmer_length)
                                                       : NameRef::kDecimal);
    const bool differs = used != 0 && now.length != spelled_.length;
    if (!refs_.empty() || batch.naming == Naming::kText || differs) fill(slots);
    if (refs_.empty()) spelled_ = now;
  }

  // Names a slot after entry j; reserve() has been called for the row.
  void keep(Slot slot, const Batch& batch, std::size_t j) {
    if (refs_.empty()) return;
    dead_ += refs_[slot].pooled() ? refs_[slot].length : 0;
    refs_[slot] = pool_.add(batch, j);
    if (dead_ > kWaste && dead_ > pool_.bytes() / 2) compact();
  }

  // Slot i gets the name of slot kept[i]; all others are forgotten.
  void keep_only(const std::vector<Slot>& kept) {
    if (refs_.empty()) return;
    Buffer<NameRef> refs;
    refs.reserve(kept.size());
    for (const Slot slot : kept) refs.push_back(refs_[slot]);
    refs_ = std::move(refs);
    compact();
  }

  // Counts it when the slot's key is met under another name than it came with.
  void check(Slot slot, const Batch& batch, std::size_t j) {
    if (refs_.empty() || batch.naming != Naming::kText) return;
    if (refs_[slot].stored() && !pool_.is(refs_[slot], batch.view(batch.names[j]))) ++collisions_;
  }
  std::uint64_t collisions() const { return collisions_; }

  // For tables whose slots keep their numbers.
  void save(StateWriter& out, std::size_t count) const {
    save(out, count, [](std::size_t i) { return static_cast<Slot>(i); });
  }

  std::string spell(Slot slot, Key key) const { return pool_.spell(refs_.empty() ? spelled_ : refs_[slot], key); }

  // Lengths (NameRef's, so that they say how a name is spelled) and the stored bytes, of
  // `count` slots; slot_of(i) is the i-th, which load() will call slot i.
  template <class SlotOf>
  void save(StateWriter& out, std::size_t count, SlotOf slot_of) const {
    const auto ref_of = [&](std::size_t i) { return refs_.empty() ? spelled_ : refs_[slot_of(i)]; };
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += ref_of(i).stored() ? ref_of(i).length : 0;
    put_each<std::uint64_t>(out, "name_lengths", count, [&](std::size_t i) { return ref_of(i).length; });
    StatePieces<char> names(out, "name_bytes", size);
    for (std::size_t i = 0; i < count; ++i)
      if (ref_of(i).stored()) names.add(pool_.stored(ref_of(i)).data(), ref_of(i).length);
    names.finish();
    out.put("collisions", std::span<const std::uint64_t>(&collisions_, 1));
  }

  void load(const StateReader& in, std::size_t slots) {
    const auto lengths = of_size(in.words("name_lengths"), slots, "name_lengths");
    const auto bytes = in.bytes("name_bytes");
    collisions_ = of_size(in.words("collisions"), 1, "collisions")[0];
    std::size_t offset = 0;
    bool spelled = true;
    refs_.reserve(slots);
    for (const std::uint64_t length : lengths) {
      NameRef ref = NameRef::spelled(static_cast<std::uint32_t>(length));
      if (ref.stored()) {
        if (length > bytes.size() - offset) throw BadState("state: names are cut off");
        ref = pool_.add({bytes.data() + offset, static_cast<std::size_t>(length)});
        offset += length;
      }
      spelled = spelled && !ref.stored() && (refs_.empty() || ref.length == refs_[0].length);
      refs_.push_back(ref);
    }
    if (!spelled || slots == 0) return;
    spelled_ = refs_[0];
    refs_.clear();
  }

 private:
  static constexpr std::size_t kWaste = std::size_t{1} << 16;

  void fill(std::size_t slots) {
    if (slots <= refs_.size()) return;
    if (slots > refs_.capacity()) refs_.reserve(slots + slots / 2);
    for (std::size_t slot = refs_.size(); slot < slots; ++slot) refs_.push_back(spelled_);
  }

  void compact() {
    NamePool live;
    for (NameRef& ref : refs_)
      if (ref.stored()) ref = live.add(pool_.stored(ref));
    pool_ = std::move(live);
    dead_ = 0;
  }

  NamePool pool_;
  NameRef spelled_ = NameRef::spelled(NameRef::kDecimal);  // of slots named before any name was stored
  Buffer<NameRef> refs_;
  std::size_t dead_ = 0;  // bytes in the pool of names that were replaced
  std::uint64_t collisions_ = 0;
};

}  // namespace fsstream

// ComposedRow: the entries of the row being read, where names are composed, `column=cell`, or known beforehand.
//
// Text is copied in pieces (parse/pieces.hpp). Nothing is checked of the room for entries, and the batch learns of
// them by `finish`.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "parse/name_hashes.hpp"
#include "parse/pieces.hpp"

namespace fsstream {

// The names that wait for their keys. Apart from the row, whose counts are then kept in registers.
struct WaitingNames {
  static constexpr std::size_t kMost = 256;
  std::array<TextRef, kMost> names;
  std::array<std::size_t, kMost> entries;  // counted in the row

  // Makes the keys of the first `count`, for the row that begins with `keys`.
  [[gnu::noinline]] void make_keys(const char* arena, std::size_t count, Key* keys) const {
    std::array<Key, kMost> hashes;
    hash_names(arena, names.data(), count, hashes.data());
    for (std::size_t i = 0; i < count; ++i) keys[entries[i]] = hashes[i];
  }
};

class ComposedRow {
 public:
  ComposedRow(Batch& batch, WaitingNames& waiting)
      : waiting_names_(waiting),
        keys_(batch.keys.end()),
        values_(batch.values.end()),
        names_(batch.names.end()),
        composed_(batch.arena.size()) {}

  [[gnu::always_inline]] void add_number(Key key, TextRef name, float value) {
    keys_[count_] = key;
    names_[count_] = name;
    values_[count_] = value;
    ++count_;
  }

  // The feature that the two parts spell, counted once. Its key is made later: it must be no number. Where `there` is
  // false nothing is added, without a branch: empty cells come as they like.
  [[gnu::always_inline]] void add_word(Batch& batch, std::string_view front, std::string_view word, bool there = true) {
    const std::size_t size = front.size() + word.size();
    if (waiting_ == WaitingNames::kMost) [[unlikely]]
      make_keys(batch);
    have_room(batch, size);
    char* const to = batch.arena.data() + composed_;
    copy_in_pieces(to, front);
    copy_in_pieces(to + front.size(), word);
    // Both halves of the name are stored as one 64-bit word: make_keys reads it as one, and a read of 64 bits behind
    // two stores of 32 has to wait until both have left the store buffer.
    const auto name = std::bit_cast<TextRef>((composed_ | TextRef::kArena) | std::uint64_t{size} << 32U);
    names_[count_] = waiting_names_.names[waiting_] = name;
    waiting_names_.entries[waiting_] = count_;
    values_[count_] = 1.0F;
    composed_ += there ? size : 0;
    waiting_ += there ? 1 : 0;
    count_ += there ? 1 : 0;
  }

  // A name, for whatever entry.
  TextRef compose(Batch& batch, std::string_view name) {
    have_room(batch, name.size());
    std::memcpy(batch.arena.data() + composed_, name.data(), name.size());
    const TextRef ref{static_cast<std::uint32_t>(composed_) | TextRef::kArena, static_cast<std::uint32_t>(name.size())};
    composed_ += name.size();
    return ref;
  }

  [[gnu::always_inline]] void finish(Batch& batch) {
    make_keys(batch);
    const std::size_t entries = batch.entries() + count_;
    batch.arena.set_size(composed_);
    batch.keys.set_size(entries);
    batch.values.set_size(entries);
    batch.names.set_size(entries);
  }

 private:
  [[gnu::always_inline]] void have_room(Batch& batch, std::size_t size) {
    const std::size_t wanted = size + 2 * kPiece;
    if (batch.arena.capacity() - composed_ < wanted) [[unlikely]]
      make_room(batch, composed_, wanted);
  }

  [[gnu::noinline]] static void make_room(Batch& batch, std::size_t composed, std::size_t more) {
    batch.arena.set_size(composed);
    batch.grow_arena(more);
  }

  [[gnu::always_inline]] void make_keys(const Batch& batch) {
    waiting_names_.make_keys(batch.arena.data(), waiting_, keys_);
    waiting_ = 0;
  }

  WaitingNames& waiting_names_;
  Key* const keys_;
  float* const values_;
  TextRef* const names_;
  std::size_t composed_;
  std::size_t count_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace fsstream

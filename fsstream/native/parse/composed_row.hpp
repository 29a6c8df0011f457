// ComposedRow: the entries of the row being read, where names are composed, `column=cell`, or known beforehand.
//
// Short pieces of text are copied sixteen bytes at a time, so as many must be readable behind each. Nothing is checked
// of the room for entries, and the batch learns of them by `finish`.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "parse/name_hashes.hpp"

namespace fsstream {

class ComposedRow {
 public:
  static constexpr std::size_t kPiece = 16;

  explicit ComposedRow(Batch& batch)
      : keys_(batch.keys.end()),
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
    if (waiting_ == kMost) [[unlikely]]
      make_keys(batch.arena.data());
    have_room(batch, size);
    char* const to = batch.arena.data() + composed_;
    copy(to, front);
    copy(to + front.size(), word);
    // One word: made of two halves it would be stored as such, and fetched at once too early.
    const auto name = std::bit_cast<TextRef>((composed_ | TextRef::kArena) | std::uint64_t{size} << 32U);
    names_[count_] = waiting_names_[waiting_] = name;
    waiting_entries_[waiting_] = count_;
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

  void finish(Batch& batch) {
    make_keys(batch.arena.data());
    const std::size_t entries = batch.entries() + count_;
    batch.arena.set_size(composed_);
    batch.keys.set_size(entries);
    batch.values.set_size(entries);
    batch.names.set_size(entries);
  }

 private:
  static constexpr std::size_t kMost = 256;  // names that wait for their keys

  [[gnu::always_inline]] static void copy(char* to, std::string_view from) {
    std::size_t done = 0;
    do {
      std::memcpy(to + done, from.data() + done, kPiece);
      done += kPiece;
    } while (done < from.size());
  }

  [[gnu::always_inline]] void have_room(Batch& batch, std::size_t size) {
    const std::size_t wanted = size + 2 * kPiece;
    if (batch.arena.capacity() - composed_ < wanted) [[unlikely]]
      make_room(batch, composed_, wanted);
  }

  [[gnu::noinline]] static void make_room(Batch& batch, std::size_t composed, std::size_t more) {
    batch.arena.set_size(composed);
    batch.grow_arena(more);
  }

  void make_keys(const char* arena) {
    std::array<Key, kMost> hashes;
    hash_names(arena, waiting_names_.data(), waiting_, hashes.data());
    for (std::size_t i = 0; i < waiting_; ++i) keys_[waiting_entries_[i]] = hashes[i];
    waiting_ = 0;
  }

  Key* const keys_;
  float* const values_;
  TextRef* const names_;
  std::size_t composed_;
  std::size_t count_ = 0;
  std::size_t waiting_ = 0;
  std::array<TextRef, kMost> waiting_names_;
  std::array<std::size_t, kMost> waiting_entries_;
};

}  // namespace fsstream

// NamedRow: the entries of the row being read, whose features have names in the text or,
// composed, in the arena.
#pragma once

#include <algorithm>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "parse/fields.hpp"

namespace fsstream {

// A place for a name of `size` bytes that the caller spells.
struct Composed {
  TextRef name;
  char* bytes;
};

inline Composed room_in_arena(Batch& batch, std::size_t size) {
  constexpr std::size_t kLargestArena = std::size_t{1} << 30;
  Buffer<char>& arena = batch.arena;
  const std::size_t begin = arena.size();
  if (size > kLargestArena - begin)
    throw LimitExceeded("the composed names of one block take over 1 GiB\nuse shorter n-grams or namespaces");
  if (arena.capacity() - begin < size) arena.reserve(std::max(begin + size, 2 * arena.capacity()));
  arena.set_size(begin + size);
  return {{static_cast<std::uint32_t>(begin) | TextRef::kArena, static_cast<std::uint32_t>(size)},
          arena.data() + begin};
}

// Written behind the rows before it; the batch learns of the entries by `finish`.
class NamedRow {
 public:
  explicit NamedRow(Batch& batch) : batch_(batch), count_(batch.keys.size()) {}

  // Room for this many more entries, where the text alone does not bound their number.
  void make_room(std::size_t entries) {
    const std::size_t room = std::min({batch_.keys.capacity(), batch_.values.capacity(), batch_.names.capacity()});
    if (room - count_ >= entries) return;
    finish();
    batch_.reserve(0, std::max(entries, count_));
  }

  void add(TextRef name, std::string_view text, float value) {
    batch_.keys.data()[count_] = key_of_name(text);
    batch_.values.data()[count_] = value;
    batch_.names.data()[count_] = name;
    ++count_;
  }

  void finish() {
    batch_.keys.set_size(count_);
    batch_.values.set_size(count_);
    batch_.names.set_size(count_);
  }

 private:
  Batch& batch_;
  std::size_t count_;
};

}  // namespace fsstream

// NamedRow: the entries of the row being read, whose features have names in the text or,
// composed, in the arena.
#pragma once

#include <algorithm>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "parse/fields.hpp"
#include "parse/plain_fields.hpp"

namespace fsstream {

// A place for a name of `size` bytes that the caller spells.
struct Composed {
  TextRef name;
  char* bytes;
};

inline Composed room_in_arena(Batch& batch, std::size_t size) {
  Buffer<char>& arena = batch.arena;
  const std::size_t begin = arena.size();
  batch.grow_arena(size);
  arena.set_size(begin + size);
  return {{static_cast<std::uint32_t>(begin) | TextRef::kArena, static_cast<std::uint32_t>(size)},
          arena.data() + begin};
}

// Written behind the rows before it; the batch learns of the entries by `finish`.
class NamedRow {
 public:
  explicit NamedRow(Batch& batch) : batch_(batch) { begin(); }

  // Room for this many more entries, where the text alone does not bound their number.
  void make_room(std::size_t entries) {
    const std::size_t room = std::min({batch_.keys.capacity(), batch_.values.capacity(), batch_.names.capacity()});
    if (room - batch_.keys.size() >= entries) return;
    batch_.reserve(0, std::max(entries, batch_.keys.size()));
    begin();
  }

  void add(TextRef name, std::string_view text, float value) {
    *at_.key++ = key_of_name(text);
    *at_.value++ = value;
    *at_.name++ = name;
  }

  // Adds the plain fields at p, see plain_fields.hpp; returns where that ended.
  template <class ReadPlain>
  const char* add_plain(const char* p, ReadPlain&& read_plain) {
    const char* const text_end = batch_.text + batch_.text_size;
    if (static_cast<std::size_t>(text_end - p) < kFieldReach) return p;
    at_.p = p;
    read_plain(at_, text_end - kFieldReach);
    return at_.p;
  }

  void finish() {
    const auto count = static_cast<std::size_t>(at_.key - batch_.keys.data());
    batch_.keys.set_size(count);
    batch_.values.set_size(count);
    batch_.names.set_size(count);
  }

 private:
  void begin() { at_ = {nullptr, batch_.text, batch_.keys.end(), batch_.values.end(), batch_.names.end()}; }

  Batch& batch_;
  FieldCursor at_{};
};

}  // namespace fsstream

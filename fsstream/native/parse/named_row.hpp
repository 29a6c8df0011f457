// NamedRow: the entries of the row being read, whose features have names in the text or,
// composed, in the arena.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "parse/fields.hpp"
#include "parse/name_hashes.hpp"
#include "parse/pieces.hpp"
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

  std::size_t size() const { return static_cast<std::size_t>(at_.key - batch_.keys.end()); }

  // The entries from `first` on, whose names lie in the text, are named `front` and that. No such name is a number.
  void put_behind(std::string_view front, std::size_t first) {
    const std::size_t begin = batch_.keys.size() + first;
    const std::size_t count = size() - first;
    TextRef* const names = batch_.names.data() + begin;
    std::size_t bytes = count * front.size();
    for (std::size_t i = 0; i < count; ++i) bytes += names[i].length;
    auto [name, to] = room_in_arena(batch_, bytes + 2 * kPiece);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view behind(batch_.text + names[i].offset, names[i].length);
      copy_in_pieces(to, front);
      copy_in_pieces(to + front.size(), behind);
      name.length = static_cast<std::uint32_t>(front.size() + behind.size());
      names[i] = name;
      name.offset += name.length;
      to += name.length;
    }
    batch_.arena.set_size(batch_.arena.size() - 2 * kPiece);
    hash_names(batch_.arena.data(), names, count, batch_.keys.data() + begin);
  }

  // Multiplies the values from `first` on; returns the name of the first that is infinite then, or nullptr.
  const char* scale(float factor, std::size_t first) {
    const std::size_t begin = batch_.keys.size();
    for (std::size_t i = begin + first; i < begin + size(); ++i) {
      float& value = batch_.values.data()[i];
      value *= factor;
      if (!std::isfinite(value)) return batch_.text + batch_.names.data()[i].offset;
    }
    return nullptr;
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

// Plain fields: names, and names with values, as nearly all are, read at full speed.
//
// Plain is a field within the next 64 bytes with one space or the line feed behind it, and a value
// that is a number. One look at the text finds the ends of all fields in view. Anything else,
// faults among it, is left to the reader of all fields.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "parse/byte_mask.hpp"

namespace fsstream {

// Where the entries of a row go.
struct FieldCursor {
  const char* p;
  const char* text;  // of the batch
  Key* key;
  float* value;
  TextRef* name;
};

// Readers look at less than this many bytes behind the beginning of a field.
inline constexpr std::size_t kFieldReach = 2 * kWindow + 16;

// Longer names are not plain.
inline constexpr std::size_t kLongestPlainName = 1024;

// Each reads plain fields that begin before `last`, and stops at the first that is not plain or in
// front of the line feed.
void read_plain_words(FieldCursor& at, const char* last);     // word, counted once
void read_plain_pairs(FieldCursor& at, const char* last);     // name:value, at the last colon
void read_plain_features(FieldCursor& at, const char* last);  // name or name:value, neither ':' nor '|' in names

enum class FieldShape : std::uint8_t { kWord, kPair, kFeature };  // of those three

// Where the name of the field [.., stop) ends; nullptr when the field is not plain. `colons` and
// `bars` are those of the view that lie in the field.
template <FieldShape kShape>
[[gnu::always_inline]] inline const char* plain_name_end(const char* view, const char* stop, std::uint64_t colons,
                                                         std::uint64_t bars) {
  if constexpr (kShape == FieldShape::kWord) return stop;
  if (kShape == FieldShape::kFeature && (bars != 0 || (colons & (colons - 1)) != 0)) return nullptr;
  if (colons == 0) return kShape == FieldShape::kFeature ? stop : nullptr;
  return view + (63 - __builtin_clzll(colons));
}

// What AVX-512 reads them with; null where it was not compiled. Of the few fields that are not as most it asks here.
using FieldReader = void (*)(FieldCursor&, const char*);
FieldReader wide_field_reader(FieldShape shape);
Key key_of_any_name(const char* name, std::size_t size);
bool read_any_value(const char* p, const char* stop, float& value);  // false where it is no number

}  // namespace fsstream

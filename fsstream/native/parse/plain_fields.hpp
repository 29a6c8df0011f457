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

// Each reads plain fields that begin before `last`, and stops at the first that is not plain or in
// front of the line feed.
void read_plain_words(FieldCursor& at, const char* last);     // word, counted once
void read_plain_pairs(FieldCursor& at, const char* last);     // name:value, at the last colon
void read_plain_features(FieldCursor& at, const char* last);  // name or name:value, neither ':' nor '|' in names

}  // namespace fsstream

// Plain entries: `index:value` as nearly all are, read at full speed.
//
// Plain is an index of up to 8 digits, and a value of up to 8 digits with or without a point and
// up to 8 digits behind it; no plus sign, no exponent; behind it one space or the line feed. One look at
// the next 64 bytes finds all ends of an entry at once, so that reading the next one need not wait
// for the numbers of this one. Anything else is left to the reader of all entries.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "parse/byte_mask.hpp"

namespace fsstream {

// Where the entries of a row go, and whether they ascend so far.
struct EntryCursor {
  const char* p;
  const char* text;  // of the batch
  Key* key;
  float* value;
  std::uint64_t above;  // an ascending row goes on with this index or a higher one
  bool descends;
  bool unlike;  // to most: what is left of the row is read entry by entry

  void put(std::uint64_t index, float number) {
    *key++ = index;
    *value++ = number;
    descends |= index < above;
    above = index + 1;
  }
};

// A reader may look at this many bytes behind the beginning of an entry.
inline constexpr std::size_t kPlainReach = 2 * kWindow + 8;

// Reads plain entries that begin before `last`, with indices from `lowest` on; stops at the first
// that is not plain, or in front of the line feed.
void read_plain(EntryCursor& at, const char* last, std::uint64_t lowest);

// What AVX-512 does it with; null where it was not compiled. It leaves rows that are not as most to the reader by
// entries, and asks of single entries that are not whether they are some at all.
using EntryReader = void (*)(EntryCursor&, const char*, std::uint64_t);
EntryReader wide_entry_reader();
void read_plain_by_entries(EntryCursor& at, const char* last, std::uint64_t lowest);
bool read_any_entry(const char* p, const char* colon, const char* stop, std::uint64_t& index, float& value);

}  // namespace fsstream

// plain_entries.cpp for AVX-512. This file alone is compiled for it (see CMakeLists.txt): it must not emit inline
// functions of headers, which the linker might share with the rest.
//
// Colons and blanks are listed as long as they stand in turns, the digits in front of each are put side by side, and
// eight entries are made of them at a time.
#include "parse/plain_entries.hpp"

#if defined(__AVX512F__)
#include "parse/wide_fields.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kMost = 96;  // entries at once
constexpr std::size_t kFew = 4;    // are not worth the trouble where a row goes on in another way
constexpr int kMostOdd = 4;        // of eight

struct Found {
  std::uint32_t room[1 + 2 * kMost + kView];  // the blank in front of the first entry, then the marks
  alignas(64) std::uint64_t indices[kMost];   // the eight bytes that an index ends with
  alignas(64) std::uint64_t heads[kMost];     // those that a value begins with
  alignas(64) std::uint64_t tails[kMost];     // and those that it ends with

  bool in_turns;  // as far as was looked

  std::uint32_t* marks() { return room + 1; }
};

// What was read of up to eight entries; `odd` are those that were not.
struct Entries {
  __m512i keys;
  __m256 values;
  __mmask8 odd;
};

// Whole entries from p on whose marks stand in turns; `more` when the row goes on like that.
inline std::size_t list_entries(const char* p, const char* last, Found& found, bool& more) {
  std::uint32_t* const marks = found.marks();
  std::uint32_t* end = marks;
  marks[-1] = ~std::uint32_t{0};
  more = true;
  found.in_turns = true;
  for (const char* view = p; more && view < last && end <= marks + 2 * kMost - kView; view += kView) {
    const __m512i bytes = _mm512_loadu_si512(view);
    const std::uint64_t feeds = bytes_equal(bytes, '\n');
    const std::uint64_t colons = bytes_equal(bytes, ':');
    const std::uint64_t listed = (blanks_of(bytes) | colons) & up_to_first(feeds);
    const std::uint64_t out_of_turn = out_of_turns(colons, listed, static_cast<std::size_t>(end - marks));
    std::uint32_t* const before = end;
    end = list_bits(listed, static_cast<std::uint32_t>(view - p), end);
    more = (feeds | out_of_turn) == 0;
    if (out_of_turn == 0) continue;
    found.in_turns = false;
    end = before + _tzcnt_u64(out_of_turn);
  }
  return static_cast<std::size_t>(end - marks) / 2;
}

inline void lay_out(const char* origin, std::size_t count, Found& found) {
  const std::uint32_t* marks = found.marks();
  for (std::size_t i = 0; i < count; ++i) {
    const char* const colon = origin + marks[2 * i];
    found.indices[i] = eight_bytes(colon - 8);
    found.heads[i] = eight_bytes(colon + 1);
    found.tails[i] = eight_bytes(origin + marks[2 * i + 1] - 8);
  }
}

inline Entries read_eight(const char* origin, Found& found, std::size_t first, __mmask8 lanes) {
  const Ends ends = paired_ends(found.marks(), first);
  const __m512i index_sizes = _mm512_sub_epi64(ends.name_stops, ends.starts);
  const __m512i sizes = _mm512_sub_epi64(_mm512_sub_epi64(ends.stops, ends.name_stops), all_words(1));
  const __m512i indices = _mm512_load_si512(found.indices + first);
  Entries read;
  __mmask8 odd_index;
  read.keys = numbers_of(indices, index_sizes, odd_index);
  odd_index = static_cast<__mmask8>(odd_index & lanes);
  if (odd_index != 0) [[unlikely]] {
    const auto before = [&](__mmask8 longer) { return words_before(origin, ends.name_stops, longer); };
    odd_index = read_longer(indices, index_sizes, odd_index, before, read.keys);
  }
  const auto before = [&](__mmask8 longer) { return words_before(origin, ends.stops, longer); };
  __mmask8 odd_value;
  read.values = decimals_of(_mm512_load_si512(found.heads + first), _mm512_load_si512(found.tails + first), sizes,
                            lanes, before, odd_value);
  read.odd = static_cast<__mmask8>(odd_index | odd_value);
  return read;
}

// Reads the odd ones among eight entries one by one; returns the first that is none, or `count`.
inline std::size_t read_odd(const EntryCursor& at, const char* origin, const std::uint32_t* marks, std::size_t first,
                            __mmask8 lanes, std::size_t count) {
  for (unsigned odd = lanes; odd != 0; odd &= odd - 1) {
    const std::size_t i = first + _tzcnt_u32(odd);
    const std::uint32_t* mark = marks + 2 * i;
    if (!read_any_entry(origin + (mark[-1] + 1U), origin + mark[0], origin + mark[1], at.key[i], at.value[i])) return i;
  }
  return count;
}

// Up to `count` entries; returns how many there are in front of the first that is none, or below the lowest index, or
// of eight that are mostly odd.
std::size_t convert(EntryCursor& at, const char* origin, Found& found, std::size_t count, std::uint64_t lowest) {
  const std::uint32_t* marks = found.marks();
  __m512i above = all_words(at.above);
  for (std::size_t first = 0; first < count; first += kEight) {
    __mmask8 lanes = first_lanes(count - first);
    Entries read = read_eight(origin, found, first, lanes);
    if (__builtin_popcount(read.odd) > kMostOdd) [[unlikely]] {
      at.unlike = true;
      return first;
    }
    _mm512_mask_storeu_epi64(at.key + first, lanes, read.keys);
    _mm256_mask_storeu_ps(at.value + first, lanes, read.values);
    if (read.odd != 0) [[unlikely]] {
      count = read_odd(at, origin, marks, first, read.odd, count);
      lanes = first_lanes(count - first);
      read.keys = _mm512_maskz_loadu_epi64(lanes, at.key + first);
    }
    if (const unsigned low = _mm512_mask_cmplt_epu64_mask(lanes, read.keys, all_words(lowest)); low != 0) {
      count = first + _tzcnt_u32(low);
      lanes = first_lanes(count - first);
    }
    const __m512i next = _mm512_add_epi64(read.keys, all_words(1));
    const __m512i least = _mm512_alignr_epi64(next, above, 7);
    at.descends |= _mm512_mask_cmplt_epu64_mask(lanes, read.keys, least) != 0;
    above = next;
  }
  return count;
}

void read_entries(EntryCursor& at, const char* last, std::uint64_t lowest) {
  if (at.unlike || at.p - at.text < 8) return read_plain_by_entries(at, last, lowest);
  Found found;
  for (bool more = true; more && at.p < last;) {
    const char* const origin = at.p;
    const std::size_t count = list_entries(origin, last, found, more);
    if (count < kFew && !more) {
      at.unlike = !found.in_turns;
      return read_plain_by_entries(at, last, lowest);
    }
    lay_out(origin, count, found);
    const std::size_t read = convert(at, origin, found, count, lowest);
    more = more && read == count && count != 0;
    if (read == 0) break;
    at.p = origin + found.marks()[2 * read - 1];
    at.p += *at.p == ' ' ? 1 : 0;
    at.key += read;
    at.value += read;
    at.above = at.key[-1] + 1;
  }
  if (at.unlike) read_plain_by_entries(at, last, lowest);
}

}  // namespace

EntryReader wide_entry_reader() { return &read_entries; }

}  // namespace fsstream

#else

namespace fsstream {

EntryReader wide_entry_reader() { return nullptr; }

}  // namespace fsstream

#endif

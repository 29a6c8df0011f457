// plain_fields.cpp for AVX-512. This file alone is compiled for it (see CMakeLists.txt): it must not emit
// inline functions of headers, which the linker might share with the rest.
//
// Blanks and colons are listed, then what is needed of each field is put beside the others', then names are hashed
// and values made, eight fields at a time. Where all fields in view are alike, as nearly always, the list alone says
// where each one is; else they are told apart one by one.
#include "parse/plain_fields.hpp"

#if defined(__AVX512F__)
#include "parse/wide_fields.hpp"
#include "parse/wide_hash.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kMarks = 192;           // listed at once
constexpr std::ptrdiff_t kLongestValue = 64;  // longer ones are not plain
constexpr auto kLongestName = static_cast<std::ptrdiff_t>(kLongestPlainName);
constexpr std::ptrdiff_t kLooked = 8192;  // bytes, however few marks are among them

// What the marks say of the fields.
enum class Layout : std::uint8_t {
  kMixed,
  kBare,    // blanks only: each field is a name
  kPaired,  // colons and blanks in turns: each has a name and a value
};

struct Found {
  std::uint32_t ends[1 + kMarks + kView];  // the blank in front of the first field, then the marks, counted from it
  Layout layout;
  // Of fields, of which there are no more than marks.
  alignas(64) std::uint64_t names[kMarks][2];  // the sixteen bytes from where a name begins
  alignas(64) std::uint64_t heads[kMarks];     // the eight bytes that a value begins with
  alignas(64) std::uint64_t tails[kMarks];     // and those that it ends with
  std::uint8_t sizes[kMarks];                  // of values

  std::uint32_t* marks() { return ends + 1; }
};

// Lists colons and blanks up to the line feed, or what no plain field has; `more` when neither was met.
template <FieldShape kShape>
inline std::size_t list_marks(const char* p, const char* last, Found& found, bool& more) {
  std::uint32_t* const marks = found.marks();
  std::uint32_t* end = marks;
  marks[-1] = ~std::uint32_t{0};
  more = true;
  bool bare = true;
  bool paired = kShape != FieldShape::kWord;
  const char* const looked = last - p < kLooked ? last : p + kLooked;
  for (const char* view = p; more && view < looked && end <= marks + kMarks - kView; view += kView) {
    const __m512i bytes = _mm512_loadu_si512(view);
    const std::uint64_t blanks = blanks_of(bytes);
    const std::uint64_t feeds = bytes_equal(bytes, '\n');
    const std::uint64_t colons = kShape == FieldShape::kWord ? 0 : bytes_equal(bytes, ':');
    const std::uint64_t bars = kShape == FieldShape::kFeature ? bytes_equal(bytes, '|') : 0;
    const std::uint64_t listed = (blanks | colons) & up_to_first(feeds) & below_first(bars);
    if constexpr (kShape != FieldShape::kWord) {
      bare = bare && (colons & listed) == 0;
      paired = paired && out_of_turns(colons, listed, static_cast<std::size_t>(end - marks)) == 0;
    }
    end = list_bits(listed, static_cast<std::uint32_t>(view - p), end);
    more = (feeds | bars) == 0;
  }
  found.layout = paired ? Layout::kPaired : bare && kShape != FieldShape::kPair ? Layout::kBare : Layout::kMixed;
  return static_cast<std::size_t>(end - marks);
}

// Field i has the value that ends at `stop`, behind the colon, or none.
inline void put_value(Found& found, std::size_t i, const char* colon, const char* stop) {
  const bool none = colon == stop;
  found.heads[i] = none ? std::uint64_t{'1'} : eight_bytes(colon + 1);
  found.tails[i] = none ? std::uint64_t{'1'} << 56 : eight_bytes(stop - 8);
  found.sizes[i] = static_cast<std::uint8_t>(none ? 1 : stop - colon - 1);
}

// All `count` fields of one layout; false when one of them is not plain.
template <FieldShape kShape, bool kValued>
bool lay_out(const char* origin, const char* text, std::size_t count, Found& found, TextRef* names) {
  const std::uint32_t* const marks = found.marks();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t* mark = marks + (kValued ? 2 * i : i);
    std::memcpy(found.names[i], origin + (mark[-1] + 1), sizeof found.names[i]);
    if constexpr (kValued) {
      found.heads[i] = eight_bytes(origin + mark[0] + 1);
      found.tails[i] = eight_bytes(origin + mark[1] - 8);
    } else if constexpr (kShape == FieldShape::kFeature) {
      put_value(found, i, origin + mark[0], origin + mark[0]);
    }
  }
  const __m512i offset = all_words(static_cast<std::uint64_t>(origin - text));
  __mmask8 odd = 0;
  for (std::size_t first = 0; first < count; first += kEight) {
    const __mmask8 lanes = first_lanes(count - first);
    const Ends ends = kValued ? paired_ends(marks, first) : bare_ends(marks, first);
    const __m512i sizes = _mm512_sub_epi64(ends.name_stops, ends.starts);
    const __m512i values = _mm512_sub_epi64(ends.stops, ends.name_stops);
    odd = static_cast<__mmask8>(
        odd | _mm512_mask_cmpge_epu64_mask(lanes, _mm512_sub_epi64(sizes, all_words(1)), all_words(kLongestName)) |
        _mm512_mask_cmpgt_epu64_mask(lanes, values, all_words(kLongestValue)));
    const __m512i refs = _mm512_or_si512(_mm512_slli_epi64(sizes, 32), _mm512_add_epi64(ends.starts, offset));
    _mm512_mask_storeu_epi64(names + first, lanes, refs);
    if constexpr (kValued)
      _mm_storel_epi64(reinterpret_cast<__m128i*>(found.sizes + first),
                       _mm512_cvtepi64_epi8(_mm512_sub_epi64(values, all_words(1))));
  }
  return odd == 0;
}

// Fields whatever their layout, up to one that is not plain.
template <FieldShape kShape>
std::size_t tell_apart(const char*& p, const char* text, std::size_t marks, Found& found, TextRef* names, bool& more) {
  const char* const origin = p;
  std::size_t count = 0;
  for (std::size_t i = 0; i < marks; ++i) {
    const char* name_stop = origin + found.marks()[i];
    const char* stop = name_stop;
    if (kShape != FieldShape::kWord && *name_stop == ':') {
      do {
        name_stop = stop;
        stop = origin + found.marks()[++i];
      } while (kShape == FieldShape::kPair && i < marks && *stop == ':');
      if (i == marks) break;
    }
    if (stop == p) {  // another blank
      ++p;
      continue;
    }
    const bool is_plain = name_stop != p && name_stop - p <= kLongestName && stop - name_stop <= kLongestValue &&
                          (kShape != FieldShape::kPair || name_stop != stop) &&
                          (kShape != FieldShape::kFeature || *stop != ':');
    if (!is_plain) {
      more = false;
      break;
    }
    names[count] = {static_cast<std::uint32_t>(p - text), static_cast<std::uint32_t>(name_stop - p)};
    std::memcpy(found.names[count], p, sizeof found.names[count]);
    if constexpr (kShape != FieldShape::kWord) put_value(found, count, name_stop, stop);
    ++count;
    p = stop + 1;
  }
  return count;
}

// Fields from p on, which is moved behind them; `more` when another may follow.
template <FieldShape kShape>
std::size_t find_fields(const char*& p, const char* last, const char* text, Found& found, TextRef* names, bool& more) {
  const char* const origin = p;
  const std::size_t marks = list_marks<kShape>(p, last, found, more);
  const bool paired = found.layout == Layout::kPaired;
  std::size_t count = paired ? marks / 2 : marks;
  const bool alike =
      count != 0 && (paired ? lay_out<kShape, true>(p, text, count, found, names)
                            : found.layout == Layout::kBare && lay_out<kShape, false>(p, text, count, found, names));
  if (alike)
    p += found.marks()[(paired ? 2 * count : count) - 1] + 1;
  else
    count = tell_apart<kShape>(p, text, marks, found, names, more);
  more = more && p < last && p != origin;
  if (p != origin && p[-1] == '\n') --p;
  return count;
}

// Keys of up to eight names; tells which are not made: of long names, and of those that may be numbers.
inline __mmask8 hash_names(const std::uint64_t (*words)[2], const TextRef* names, __mmask8 lanes, Key* keys) {
  static_assert(sizeof(TextRef) == sizeof(std::uint64_t));
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i low = _mm512_load_si512(words);
  const __m512i high = _mm512_load_si512(words + kEight / 2);
  const __m512i first = _mm512_permutex2var_epi64(low, even, high);
  const __m512i second = _mm512_permutex2var_epi64(low, _mm512_add_epi64(even, all_words(1)), high);
  const __m512i sizes = _mm512_srli_epi64(_mm512_maskz_loadu_epi64(lanes, names), 32);
  _mm512_mask_storeu_epi64(keys, lanes, ended(no_hash(), first, second, sizes, sizes));
  const __m512i letter = _mm512_sub_epi64(_mm512_and_si512(first, all_words(0xff)), all_words('0'));
  return static_cast<__mmask8>(_mm512_mask_cmpgt_epu64_mask(lanes, sizes, all_words(15)) |
                               _mm512_mask_cmple_epu64_mask(lanes, letter, all_words(9)));
}

// Keys and values of the fields; returns how many there are in front of the first that is not plain.
template <FieldShape kShape>
std::size_t convert(const FieldCursor& at, const Found& found, std::size_t count) {
  for (std::size_t first = 0; first < count; first += kEight) {
    const __mmask8 lanes = first_lanes(count - first);
    unsigned odd = hash_names(found.names + first, at.name + first, lanes, at.key + first);
    for (; odd != 0; odd &= odd - 1) {
      const std::size_t i = first + _tzcnt_u32(odd);
      at.key[i] = key_of_any_name(at.text + at.name[i].offset, at.name[i].length);
    }
    if constexpr (kShape == FieldShape::kWord) {
      _mm256_mask_storeu_ps(at.value + first, lanes, _mm256_set1_ps(1.0F));
      continue;
    }
    const __m512i sizes = _mm512_cvtepu8_epi64(load_bytes(found.sizes + first));
    const auto before = [&](__mmask8 longer) {
      const __m512i names = _mm512_maskz_loadu_epi64(longer, at.name + first);
      const __m512i name_stops =
          _mm512_add_epi64(_mm512_and_si512(names, all_words(0xffffffff)), _mm512_srli_epi64(names, 32));
      return words_before(at.text + 1, _mm512_add_epi64(name_stops, sizes), longer);
    };
    __mmask8 others;
    const __m256 values = decimals_of(_mm512_load_si512(found.heads + first), _mm512_load_si512(found.tails + first),
                                      sizes, lanes, before, others);
    _mm256_mask_storeu_ps(at.value + first, lanes, values);
    for (odd = others; odd != 0; odd &= odd - 1) {
      const std::size_t i = first + _tzcnt_u32(odd);
      const char* const value = at.text + at.name[i].offset + at.name[i].length + 1;
      if (!read_any_value(value, value + found.sizes[i], at.value[i])) return i;
    }
  }
  return count;
}

template <FieldShape kShape>
void read_fields(FieldCursor& at, const char* last) {
  Found found;
  // Eight bytes before the end of a value are looked at.
  for (bool more = at.p - at.text >= 8; more;) {
    const char* p = at.p;
    const std::size_t count = find_fields<kShape>(p, last, at.text, found, at.name, more);
    const std::size_t plain = convert<kShape>(at, found, count);
    if (plain < count) {
      p = at.text + at.name[plain].offset;
      more = false;
    }
    at.p = p;
    at.key += plain;
    at.value += plain;
    at.name += plain;
  }
}

}  // namespace

FieldReader wide_field_reader(FieldShape shape) {
  switch (shape) {
    case FieldShape::kWord:
      return &read_fields<FieldShape::kWord>;
    case FieldShape::kPair:
      return &read_fields<FieldShape::kPair>;
    default:
      return &read_fields<FieldShape::kFeature>;
  }
}

}  // namespace fsstream

#else

namespace fsstream {

FieldReader wide_field_reader(FieldShape) { return nullptr; }

}  // namespace fsstream

#endif

#include "parse/json.hpp"

#include <array>
#include <bit>
#include <cstdint>

#include "parse/byte_mask.hpp"
#include "parse/lines.hpp"
#include "parse/number.hpp"

namespace fsstream {

namespace {

constexpr Fault kNoString{"a string", "keys and words stand in double quotes"};
constexpr Fault kUnclosed{"a closing quote", "a line feed in a string is written \\n"};
constexpr Fault kControl{"a character", "control characters in strings are escaped"};
constexpr Fault kEscape{"an escape", "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"};
constexpr Fault kSurrogate{"a pair of surrogates", "half a character cannot be written in UTF-8"};
constexpr Fault kNumber{"a number", "as JSON writes them: -0.5, 2e-3; no '+', no leading zeros"};
constexpr Fault kWord{"a value", "a string, a number, true, false, null, an object or an array; JSON has no NaN"};
constexpr Fault kUtf8{"UTF-8", "JSON text is UTF-8: convert the file"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_digits(const char* p, const char* end) {
  while (p != end && is_digit(*p)) ++p;
  return p;
}

// Past the plain characters: to a quote, a backslash, a control character or the end.
void skip_plain(JsonCursor& json) {
  for (std::uint32_t others = 0; others == 0 && json.is_wide(); json.p += std::countr_zero(others))
    others = no_plain_characters(json.p);
  while (!json.at_end() && *json.p != '"' && *json.p != '\\' && static_cast<unsigned char>(*json.p) >= 0x20) ++json.p;
}

void append_utf8(std::uint32_t c, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
  } else {
    if (c < 0x10000) {
      put(0xe0 | (c >> 12));
    } else {
      put(0xf0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3f));
    }
    put(0x80 | ((c >> 6) & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// The four hexadecimal digits behind `\u`; false when they are not.
bool read_hex(JsonCursor& json, std::uint32_t& unit) {
  if (json.end - json.p < 4) return false;
  unit = 0;
  for (const char* const behind = json.p + 4; json.p != behind; ++json.p) {
    const char letter = static_cast<char>(*json.p | 0x20);
    const bool hex = letter >= 'a' && letter <= 'f';
    if (!is_digit(*json.p) && !hex) return false;
    unit = unit * 16 + static_cast<std::uint32_t>(hex ? letter - 'a' + 10 : *json.p - '0');
  }
  return true;
}

// From behind `\u`, which began at `escape`.
Verdict read_unicode(JsonCursor& json, const char* escape, std::string& out) {
  std::uint32_t unit;
  if (!read_hex(json, unit)) return {escape, kEscape};
  if (unit >= 0xd800 && unit < 0xe000) {
    std::uint32_t low = 0;
    const bool high = unit < 0xdc00 && between(json.p, json.end).starts_with("\\u");
    if (high) json.p += 2;
    if (!high || !read_hex(json, low) || low < 0xdc00 || low >= 0xe000) return {escape, kSurrogate};
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(unit, out);
  return {};
}

// From the backslash on.
Verdict read_escape(JsonCursor& json, std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char* const escape = json.p++;
  if (json.at_end()) return {escape, kEscape};
  const char letter = *json.p++;
  if (letter == 'u') return read_unicode(json, escape, out);
  const std::size_t which = kLetters.find(letter);
  if (which == std::string_view::npos) return {escape, kEscape};
  out.push_back(kMeanings[which]);
  return {};
}

// Bytes of the valid UTF-8 sequence at `p`, 0 when it is none (RFC 3629's table).
std::size_t utf8_length(const char* p, const char* end) {
  const auto byte = [p](int i) { return static_cast<unsigned char>(p[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || static_cast<std::size_t>(end - p) < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(static_cast<int>(i)) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool beyond = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// A number of JSON's grammar: no sign but `-`, no leading zeros, digits around the point.
Verdict read_number_text(JsonCursor& json, std::string_view& out) {
  const char* const begin = json.p;
  const char* p = begin;
  if (p != json.end && *p == '-') ++p;
  const char* const whole = p;
  p = skip_digits(p, json.end);
  if (p == whole || (*whole == '0' && p != whole + 1)) return {begin, kNumber};
  if (p != json.end && *p == '.') {
    const char* const fraction = ++p;
    p = skip_digits(p, json.end);
    if (p == fraction) return {begin, kNumber};
  }
  if (p != json.end && (*p | 0x20) == 'e') {
    ++p;
    if (p != json.end && (*p == '-' || *p == '+')) ++p;
    const char* const exponent = p;
    p = skip_digits(p, json.end);
    if (p == exponent) return {begin, kNumber};
  }
  out = between(begin, p);
  json.p = p;
  return {};
}

Verdict read_word(JsonCursor& json, std::string_view& out) {
  constexpr std::array<std::string_view, 3> kWords{"true", "false", "null"};
  for (const std::string_view word : kWords) {
    if (!between(json.p, json.end).starts_with(word)) continue;
    out = between(json.p, json.p + word.size());
    json.p += word.size();
    return {};
  }
  return {json.p, json.at_end() ? kJsonCutShort : kWord};
}

}  // namespace

Verdict read_json_string(JsonCursor& json, std::string& scratch, std::string_view& out) {
  if (!json.at('"')) return {json.p, kNoString};
  const char* const opening = json.p++;
  const char* const plain = json.p;
  skip_plain(json);
  if (json.at('"')) {
    out = between(plain, json.p++);
    return {};
  }
  scratch.assign(plain, json.p);
  while (!json.at('"')) {
    if (json.at_end()) return {opening, kUnclosed};
    if (*json.p != '\\') return {json.p, kControl};
    const Verdict verdict = read_escape(json, scratch);
    if (!verdict.good()) return verdict;
    const char* const more = json.p;
    skip_plain(json);
    scratch.append(more, json.p);
  }
  ++json.p;
  out = scratch;
  return {};
}

Verdict read_json_scalar(JsonCursor& json, std::string& scratch, std::string_view& out, JsonKind& kind) {
  if (json.at('"')) {
    kind = JsonKind::kString;
    return read_json_string(json, scratch, out);
  }
  if (!json.at_end() && (*json.p == '-' || is_digit(*json.p))) {
    kind = JsonKind::kNumber;
    return read_number_text(json, out);
  }
  const Verdict verdict = read_word(json, out);
  kind = out == "null" ? JsonKind::kNull : JsonKind::kWord;
  return verdict;
}

Verdict check_utf8(const char* begin, const char* end) {
  for (const char* p = begin; p != end;) {
    if (end - p >= static_cast<std::ptrdiff_t>(kWindow) && no_ascii(p) == 0) {
      p += kWindow;
      continue;
    }
    std::uint64_t word;
    if (end - p >= 8 && (std::memcpy(&word, p, 8), (word & 0x8080808080808080ULL) == 0)) {
      p += 8;
      continue;
    }
    const std::size_t length = utf8_length(p, end);
    if (length == 0) return {p, kUtf8};
    p += length;
  }
  return {};
}

}  // namespace fsstream

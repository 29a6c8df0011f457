// JSON (RFC 8259), read strictly from a piece of text: the parts of which a reader of objects
// is made. Each part moves the cursor behind what it read; a verdict names the offending byte.
//
// Strings come out as UTF-8: escapes and pairs of surrogates are decoded, lone surrogates and
// raw control characters are faults. Numbers come out as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parse/fields.hpp"
#include "parse/number.hpp"

namespace fsstream {

struct JsonCursor {
  const char* p;
  const char* end;
  const char* wide = nullptr;  // at bytes before this one a window may be read

  bool is_wide() const { return p < wide; }
  bool at_end() const { return p == end; }
  bool at(char c) const { return p != end && *p == c; }
  void skip_space() {
    while (p != end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) ++p;
  }
};

inline constexpr Fault kJsonCutShort{"the rest of the object", "an object is one line"};

enum class JsonKind : std::uint8_t { kString, kNumber, kWord, kNull };

// Reads a number where it is short; returns the first byte behind it, nullptr at any other and at what is none.
[[gnu::always_inline]] inline const char* read_short_json_number(const char* p, const char* end, float& value) {
  const char* const behind = read_short_number(p, end, value);
  if (behind == nullptr || behind[-1] == '.') return nullptr;
  const char* const digits = p + (*p == '-' ? 1 : 0);  // what begins with a point or a plus is no number here
  const bool zero_first = *digits == '0' && behind - digits > 1 && digits[1] != '.';
  return *digits < '0' || zero_first ? nullptr : behind;
}

// Reads a string, a number, `true`, `false` or `null`; a fault at anything else.
Verdict read_json_scalar(JsonCursor& json, std::string& scratch, std::string_view& out, JsonKind& kind);

// Reads a string, from its opening quote. `out` lies in the text, or decoded in `scratch`.
Verdict read_json_string(JsonCursor& json, std::string& scratch, std::string_view& out);

// The first byte that is not part of valid UTF-8, as a verdict.
Verdict check_utf8(const char* begin, const char* end);

}  // namespace fsstream

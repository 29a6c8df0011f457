// Lines of records that are more than one line: where one ends and the next begins. A CR
// before the LF is no part of a line.
#pragma once

#include <cstring>
#include <string_view>

#include "parse/fields.hpp"

namespace fsstream {

struct Line {
  const char* begin;
  const char* end;   // without LF, CR LF
  const char* next;  // where the following line begins; the end of the text after the last

  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  std::string_view view() const { return {begin, size()}; }
  bool terminated() const { return next != begin && next[-1] == '\n'; }
};

// The line at `begin`, which must lie before `text_end`.
inline Line line_at(const char* begin, const char* text_end) {
  const void* const found = std::memchr(begin, '\n', static_cast<std::size_t>(text_end - begin));
  const char* end = found != nullptr ? static_cast<const char*>(found) : text_end;
  const char* const next = found != nullptr ? end + 1 : text_end;
  if (end != begin && end[-1] == '\r') --end;
  return {begin, end, next};
}

// Of whole records at the front of a text: how many, and their bytes.
struct Taken {
  std::size_t records = 0;
  std::size_t bytes = 0;
};

inline constexpr std::size_t kAllRecords = ~std::size_t{0};

// The whole lines at the front, at most so many.
inline Taken take_lines(std::string_view text, std::size_t most) {
  Taken taken;
  for (std::size_t feed; taken.records < most; ++taken.records, taken.bytes = feed + 1)
    if ((feed = text.find('\n', taken.bytes)) == text.npos) break;
  return taken;
}

inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Past the empty lines at `p`.
inline const char* skip_line_ends(const char* p, const char* end) {
  while (p != end && is_line_end(*p)) ++p;
  return p;
}

// Past empty lines and byte order marks before a record, wherever the text was cut.
inline const char* skip_to_record(const char* p, const char* end) {
  const char* before;
  do {
    before = p;
    p = behind_mark(skip_line_ends(p, end), end);
  } while (p != before);
  return p;
}

// Without the blanks around it.
inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

inline std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

inline TextRef ref_to(const Batch& batch, std::string_view part) {
  return ref_to(batch, part.data(), part.data() + part.size());
}

}  // namespace fsstream

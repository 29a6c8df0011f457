// Lines and the fields in them: what the formats of one record a line share.
//
// White space is what isspace means in the C locale. A line feed ends a record, so a
// carriage return before it is white space at the end of the line; records of nothing
// but white space are skipped. Text has no NUL: a line that holds one is bad, wherever.
#pragma once

#include <cstring>
#include <string_view>

#include "core/fault.hpp"
#include "parse/parser.hpp"

namespace fsstream {

inline constexpr std::size_t kLongestName = 64 * 1024;
inline constexpr Fault kNul{"text", "the line holds a NUL byte: is this a binary file?"};
inline constexpr Fault kLongName{"a name of at most 64 KiB", "is there white space between the names?"};
inline constexpr Fault kSum{"values with a finite sum", "values of one feature are added up; these leave float32"};

inline bool is_blank(char c) { return c == ' ' || static_cast<unsigned char>(c - '\t') <= '\r' - '\t'; }

inline const char* skip_blanks(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  return p;
}

inline const char* field_end(const char* p, const char* end) {
  while (p != end && !is_blank(*p)) ++p;
  return p;
}

// What reading a record came to: `at` is the offending byte, nullptr when there is none.
struct Verdict {
  const char* at = nullptr;
  Fault fault{};
  bool good() const { return at == nullptr; }
};

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// What some editors put before a text is no part of it.
inline const char* behind_mark(const char* begin, const char* text_end) {
  const std::string_view text{begin, static_cast<std::size_t>(text_end - begin)};
  return begin + (text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

inline TextRef ref_to(const Batch& batch, const char* begin, const char* end) {
  return {static_cast<std::uint32_t>(begin - batch.text), static_cast<std::uint32_t>(end - begin)};
}

inline void report(Batch& batch, const char* begin, const char* end, const Verdict& verdict) {
  if (end != begin && end[-1] == '\r') --end;
  const auto offset = [&batch](const char* p) { return static_cast<std::uint64_t>(p - batch.text); };
  batch.bad.push_back({offset(begin), static_cast<std::uint64_t>(end - begin), offset(verdict.at),
                       verdict.fault.expected, verdict.fault.hint});
}

// The first NUL of a line, as a verdict.
inline Verdict check_text(const char* begin, const char* end) {
  const auto* nul = static_cast<const char*>(std::memchr(begin, '\0', static_cast<std::size_t>(end - begin)));
  return nul == nullptr ? Verdict{} : Verdict{nul, kNul};
}

// Gives each line to `read_line(begin, end)`, which appends a row or not, and drops what a
// bad line has left.
template <class ReadLine>
void for_each_line(Batch& batch, bool skip_bad, ReadLine&& read_line) {
  const char* const text_end = batch.text + batch.text_size;
  const char* p = batch.starts_source ? behind_mark(batch.text, text_end) : batch.text;
  while (p != text_end) {
    const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(text_end - p)));
    const char* const line_end = feed == nullptr ? text_end : feed;
    const std::size_t composed = batch.arena.size();
    Verdict verdict = check_text(p, line_end);
    if (verdict.good()) verdict = read_line(p, line_end);
    if (!verdict.good()) {
      batch.drop_row();
      batch.arena.set_size(composed);
      report(batch, p, line_end, verdict);
      if (!skip_bad) return;
    }
    p = feed == nullptr ? text_end : feed + 1;
  }
}

}  // namespace fsstream

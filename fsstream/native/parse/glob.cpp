#include "parse/glob.hpp"

#include <algorithm>

namespace fsstream {

namespace {

bool continues(const char* p, const char* end) { return p != end && (static_cast<unsigned char>(*p) & 0xC0) == 0x80; }

// What is no UTF-8 stands for itself, out of the way of real characters.
constexpr char32_t kStrayByte = 0xDC00;

// Takes the next character; p is before end.
char32_t next_character(const char*& p, const char* end) {
  const auto lead = static_cast<unsigned char>(*p++);
  if (lead < 0x80) return lead;
  const unsigned more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  constexpr char32_t kLowest[] = {0, 0x80, 0x800, 0x10000};
  char32_t character = lead & (0x3Fu >> more);
  const char* q = p;
  for (unsigned i = 0; i < more; ++i, ++q) {
    if (!continues(q, end)) return kStrayByte + lead;
    character = character << 6 | (static_cast<unsigned char>(*q) & 0x3Fu);
  }
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  const bool valid = lead >= 0xC2 && lead <= 0xF4 && character >= kLowest[more] && character <= 0x10FFFF;
  if (!valid || surrogate) return kStrayByte + lead;
  p = q;
  return character;
}

}  // namespace

bool Glob::Part::accepts(char32_t character) const {
  if (kind == Kind::kAny) return true;
  const bool listed = std::any_of(ranges.begin(), ranges.end(), [character](const Range& range) {
    return range.first <= character && character <= range.second;
  });
  return listed == (kind == Kind::kOneOf);
}

// A bracket right behind the opening, or behind its `!`, is one of the characters of the set.
const char* Glob::end_of_set(const char* set, const char* end) {
  if (set != end && *set == '!') ++set;
  if (set != end && *set == ']') ++set;
  const char* const close = std::find(set, end, ']');
  return close == end ? nullptr : close;
}

Glob::Part Glob::read_set(const char* set, const char* end) {
  Part part{Kind::kOneOf, {}};
  if (*set == '!') {
    part.kind = Kind::kNoneOf;
    ++set;
  }
  while (set != end) {
    const char32_t first = next_character(set, end);
    char32_t last = first;
    if (end - set >= 2 && *set == '-') last = next_character(++set, end);
    part.ranges.emplace_back(first, last);
  }
  return part;
}

Glob::Glob(std::string_view pattern) {
  const char* p = pattern.data();
  const char* const end = p + pattern.size();
  while (p != end) {
    const char32_t character = next_character(p, end);
    const char* const close = character == '[' ? end_of_set(p, end) : nullptr;
    if (character == '*') {
      if (parts_.empty() || parts_.back().kind != Kind::kRun) parts_.push_back({Kind::kRun, {}});
    } else if (character == '?') {
      parts_.push_back({Kind::kAny, {}});
    } else if (close != nullptr) {
      parts_.push_back(read_set(p, close));
      p = close + 1;
    } else {
      parts_.push_back({Kind::kOneOf, {{character, character}}});
    }
  }
}

// Greedy, with one place to come back to: the last run, which then takes one character more.
bool Glob::matches(std::string_view name) const {
  const char* p = name.data();
  const char* const end = p + name.size();
  std::size_t part = 0;
  std::size_t run = parts_.size();  // none yet
  const char* run_end = nullptr;
  while (p != end) {
    if (part < parts_.size() && parts_[part].kind == Kind::kRun) {
      run = part++;
      run_end = p;
      continue;
    }
    if (part < parts_.size() && parts_[part].accepts(next_character(p, end))) {
      ++part;
      continue;
    }
    if (run == parts_.size()) return false;
    next_character(run_end, end);
    p = run_end;
    part = run + 1;
  }
  if (part < parts_.size() && parts_[part].kind == Kind::kRun) ++part;
  return part == parts_.size();
}

}  // namespace fsstream

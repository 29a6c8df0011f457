#include "parse/line_shapes.hpp"

#include <bit>

#include "parse/byte_mask.hpp"
#include "parse/lines.hpp"
#include "parse/number.hpp"

namespace fsstream {

namespace {

bool is_letter_of_dna(char c) { return std::string_view("ACGTNacgtn").find(c) != std::string_view::npos; }

bool is_sequence(const char* begin, const char* end) {
  const auto* const tab = static_cast<const char*>(std::memchr(begin, '\t', static_cast<std::size_t>(end - begin)));
  if (tab == nullptr || tab + 1 == end) return false;
  for (const char* p = tab + 1; p != end; ++p)
    if (!is_letter_of_dna(*p)) return false;
  return true;
}

// Whether what stands before the bar is `label [weight] [base] ['tag]`. The parser takes a word
// that touches the bar for a tag even without its quote; here that would be a guess.
bool is_front(const char* p, const char* bar) {
  for (int count = 0; (p = skip_blanks(p, bar)) != bar; ++count) {
    const char* const word_end = field_end(p, bar);
    const std::string_view word = between(p, word_end);
    const bool tag = skip_blanks(word_end, bar) == bar && *p == '\'';
    float number;
    if (!tag && count != 0 && (count > 2 || !is_number(word, number))) return false;
    p = word_end;
  }
  return true;
}

bool is_barred(const char* begin, const char* end) {
  const auto* const bar = static_cast<const char*>(std::memchr(begin, '|', static_cast<std::size_t>(end - begin)));
  return bar != nullptr && is_front(begin, bar);
}

enum class FieldShape : std::uint8_t { kOther, kNamed, kIndexed };

FieldShape shape_of(std::string_view field) {
  const std::size_t last = field.rfind(':');
  float value;
  if (last == std::string_view::npos || last == 0 || !is_number(field.substr(last + 1), value))
    return FieldShape::kOther;
  std::uint64_t index;
  const char* const colon = field.data() + last;
  return read_index(field.data(), colon, index) == colon ? FieldShape::kIndexed : FieldShape::kNamed;
}

// The shape of the field at `p`, which has a window; moves behind it. A field that is seen whole and whose value is
// digits with a point or none, is told from its masks alone.
FieldShape read_in_window(const char*& p, const char* end) {
  const char* const begin = p;
  const std::uint32_t stops = controls(begin);
  const int stop = std::countr_zero(stops);
  if (stops == 0 || begin + stop > end || !is_blank(begin[stop])) {
    p = field_end(begin, end);
    return shape_of(between(begin, p));
  }
  p = begin + stop;
  const std::uint32_t within = (std::uint32_t{1} << stop) - 1;
  const std::uint32_t colons = equal_to(begin, ':') & within;
  if (colons == 0) return FieldShape::kOther;
  const int colon = 31 - std::countl_zero(colons);
  const std::uint32_t others = no_digits(begin) & within;
  const std::uint32_t in_value = others & ~((std::uint32_t{2} << colon) - 1);
  const int digits = stop - colon - 1 - std::popcount(in_value);
  const bool plain = in_value == 0 || in_value == (equal_to(begin, '.') & in_value & (~in_value + 1));
  constexpr int kSurelyAnIndex = 19;  // as many digits stay below 2^64
  if (!plain || digits == 0 || colon == 0 || colon > kSurelyAnIndex) return shape_of(between(begin, p));
  return (others & ((std::uint32_t{1} << colon) - 1)) == 0 ? FieldShape::kIndexed : FieldShape::kNamed;
}

// The shape of the field at `p`; moves behind it. Bytes before `last` have a window.
FieldShape read_field(const char*& p, const char* end, const char* last) {
  if (p < last) return read_in_window(p, end);
  const char* const begin = p;
  p = field_end(p, end);
  return shape_of(between(begin, p));
}

// Whether a line without fields goes on with a comment, not with a word like `#this`.
bool begins_comment(const char* p, const char* end) { return p + 1 == end || is_blank(p[1]); }

void count_fields(const char* p, const char* end, const char* last, LineShapes& shapes) {
  std::uint64_t fields = 0;
  std::uint64_t indexed = 0;
  for (p = skip_blanks(p, end); p != end; p = skip_blanks(p, end)) {
    if (*p == '#' && indexed == fields && (fields != 0 || begins_comment(p, end))) break;
    const FieldShape shape = read_field(p, end, last);
    ++fields;
    shapes.named += shape != FieldShape::kOther;
    indexed += shape == FieldShape::kIndexed;
  }
  shapes.fields += fields;
  shapes.indexed += indexed;
}

// `qid:n` is a part of libsvm's label.
const char* behind_label(const char* p, const char* end) {
  p = skip_blanks(field_end(p, end), end);
  return between(p, end).starts_with("qid:") ? field_end(p, end) : p;
}

}  // namespace

LineShapes shapes_of_lines(std::string_view text) {
  LineShapes shapes;
  const char* const text_end = text.data() + text.size();
  const char* const last = text.size() < kWindow ? text.data() : text_end - kWindow;
  for (const char* p = text.data(); p != text_end;) {
    const Line line = line_at(p, text_end);
    p = line.next;
    const char* const begin = skip_blanks(line.begin, line.end);
    if (begin == line.end || *begin == '#') continue;
    ++shapes.lines;
    shapes.sequences += is_sequence(line.begin, line.end);
    shapes.barred += is_barred(begin, line.end);
    count_fields(behind_label(begin, line.end), line.end, last, shapes);
  }
  return shapes;
}

}  // namespace fsstream

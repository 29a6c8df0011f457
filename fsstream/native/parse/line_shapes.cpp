#include "parse/line_shapes.hpp"

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

// The shape of the field at `p`; moves behind it.
FieldShape read_field(const char*& p, const char* end) {
  const char* const begin = p;
  float value;
  std::uint64_t index;
  const char* const colon = read_index(p, end, index);
  if (colon != nullptr && colon != end && *colon == ':') {
    const char* const behind = read_number(colon + 1, end, value);
    if (behind != nullptr && (behind == end || is_blank(*behind))) {
      p = behind;
      return FieldShape::kIndexed;
    }
  }
  p = field_end(begin, end);
  const std::string_view field = between(begin, p);
  const std::size_t last = field.rfind(':');
  const bool named = last != std::string_view::npos && last != 0 && is_number(field.substr(last + 1), value);
  return named ? FieldShape::kNamed : FieldShape::kOther;
}

// Whether a line without fields goes on with a comment, not with a word like `#this`.
bool begins_comment(const char* p, const char* end) { return p + 1 == end || is_blank(p[1]); }

void count_fields(const char* p, const char* end, LineShapes& shapes) {
  std::uint64_t fields = 0;
  std::uint64_t indexed = 0;
  for (p = skip_blanks(p, end); p != end; p = skip_blanks(p, end)) {
    if (*p == '#' && indexed == fields && (fields != 0 || begins_comment(p, end))) break;
    const FieldShape shape = read_field(p, end);
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
  for (const char* p = text.data(); p != text_end;) {
    const Line line = line_at(p, text_end);
    p = line.next;
    const char* const begin = skip_blanks(line.begin, line.end);
    if (begin == line.end || *begin == '#') continue;
    ++shapes.lines;
    shapes.sequences += is_sequence(line.begin, line.end);
    shapes.barred += is_barred(begin, line.end);
    count_fields(behind_label(begin, line.end), line.end, shapes);
  }
  return shapes;
}

}  // namespace fsstream

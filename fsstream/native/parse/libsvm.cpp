#include "parse/libsvm.hpp"

#include "parse/label.hpp"

namespace fsstream {

namespace {

constexpr Fault kNoLabel{"a label", "a line begins with its label: 'label index:value ...'"};
constexpr Fault kCommentInLabel{"a label", "'#' begins a comment and cannot be a part of a label"};
constexpr Fault kNul{"text", "the line holds a NUL byte: is this a binary file?"};
constexpr Fault kSum{"values with a finite sum", "values of one index are added up; these leave the range of float32"};
constexpr const char* kEntry = "index:value";
constexpr const char* kNameHint = "an index is a number; names that are not need --format pairs";

bool ends_entry(const char* p, const char* end) { return p == end || is_blank(*p) || *p == '#'; }

// The first byte behind the label; fails on what cannot be one.
const char* label_end(const char* p, const char* end, Verdict& verdict) {
  const char* q = p;
  const char* colon = nullptr;
  for (; q != end && !is_blank(*q); ++q) {
    if (*q == '\0') verdict = {q, kNul};
    if (*q == '#') verdict = {q, kCommentInLabel};
    if (!verdict.good()) return q;
    if (*q == ':') colon = q;
  }
  float value;
  if (colon != nullptr && colon != p && is_number({colon + 1, static_cast<std::size_t>(q - colon - 1)}, value))
    verdict = {p, kNoLabel};
  return q;
}

// `qid:n` groups rows for ranking; it is checked and otherwise without meaning here.
const char* skip_query(const char* p, const char* end) {
  if (end - p < 4 || std::memcmp(p, "qid:", 4) != 0) return p;
  std::uint64_t query;
  const char* const q = read_index(p + 4, end, query);
  return q != nullptr && ends_entry(q, end) ? skip_blanks(q, end) : p;
}

Verdict bad_index(const char* p, const char* end) {
  const NotNumber why = why_no_index(p, end);
  return {why.at, {kEntry, why.hint == nullptr ? kNameHint : why.hint}};
}

Verdict bad_value(const char* p, const char* end) {
  const NotNumber why = why_no_number(p, end);
  return {why.at, {kEntry, why.hint}};
}

// NUL bytes are named as such wherever they are found.
Verdict named(Verdict verdict, const char* end) {
  if (verdict.at != end && *verdict.at == '\0') verdict.fault = kNul;
  return verdict;
}

}  // namespace

Verdict LibsvmParser::read_line(Batch& batch, const char* begin, const char* end) {
  const char* p = skip_blanks(begin, end);
  if (p == end || *p == '#') return {};
  Verdict verdict;
  const char* const label = p;
  const char* const behind_label = label_end(p, end, verdict);
  if (!verdict.good()) return verdict;

  p = skip_query(skip_blanks(behind_label, end), end);
  const std::size_t row_begin = batch.keys.size();
  Key* const keys = batch.keys.data();
  float* const values = batch.values.data();
  std::size_t count = row_begin;
  bool ascending = true;
  while (p != end && *p != '#') {
    std::uint64_t index;
    const char* q = read_index(p, end, index);
    if (q == nullptr) return named(bad_index(p, end), end);
    if (q == end || *q != ':') return named({q, {kEntry, kNameHint}}, end);
    const char* const value_begin = q + 1;
    q = read_number(value_begin, end, values[count]);
    if (q == nullptr) return named(bad_value(value_begin, end), end);
    if (!ends_entry(q, end)) return named({q, {kEntry, nullptr}}, end);
    ascending = ascending && (count == row_begin || index > keys[count - 1]);
    keys[count++] = index;
    p = skip_blanks(q, end);
  }
  batch.keys.set_size(count);
  batch.values.set_size(count);
  if (!ascending && !merge_.merge(batch)) return {label, kSum};
  const std::string_view text{label, static_cast<std::size_t>(behind_label - label)};
  batch.end_row(ref_to(batch, label, behind_label), label_number(text), 1.0F,
                static_cast<std::uint32_t>(begin - batch.text));
  return {};
}

void LibsvmParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kDecimal;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 4 + 1);
  for_each_line(batch, skip_bad,
                [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

#include "parse/libsvm.hpp"

#include "parse/label.hpp"

namespace fsstream {

namespace {

constexpr Fault kCommentInLabel{"a label", "'#' begins a comment and cannot be a part of a label"};

// `qid:n` groups rows for ranking; it is checked and otherwise without meaning here.
const char* skip_query(const char* p, const char* end) {
  if (end - p < 4 || std::memcmp(p, "qid:", 4) != 0) return p;
  std::uint64_t query;
  const char* const q = read_index(p + 4, end, query);
  const bool whole = q != nullptr && (q == end || is_blank(*q) || *q == '#');
  return whole ? skip_blanks(q, end) : p;
}

}  // namespace

Verdict LibsvmParser::read_line(Batch& batch, const char* begin, const char* end) {
  const char* const label = skip_blanks(begin, end);
  if (label == end || *label == '#') return {};
  const char* const label_end = field_end(label, end);
  const std::string_view text{label, static_cast<std::size_t>(label_end - label)};
  if (const std::size_t comment = text.find('#'); comment != std::string_view::npos)
    return {label + comment, kCommentInLabel};
  if (is_entry(text)) return {label, kNoLabel};
  const Verdict verdict = entries_.read(batch, skip_query(skip_blanks(label_end, end), end), end);
  if (verdict.good()) end_row(batch, begin, text);
  return verdict;
}

void LibsvmParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kDecimal;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 4 + 1);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

#include "parse/pairs.hpp"

#include "parse/label.hpp"
#include "parse/named_row.hpp"

namespace fsstream {

namespace {

constexpr const char* kEntry = "name:value";

Verdict read_entry(Batch& batch, NamedRow& row, const char* p, const char* end) {
  const std::string_view field{p, static_cast<std::size_t>(end - p)};
  const std::size_t colon = field.rfind(':');
  if (colon == std::string_view::npos) return {p, {kEntry, "for words without values use --format tokens"}};
  if (colon == 0) return {p, {kEntry, "a name has at least one letter"}};
  if (colon > kLongestName) return {p, kLongName};
  float value;
  const char* const value_begin = p + colon + 1;
  const char* const q = read_number(value_begin, end, value);
  if (q == nullptr) {
    const NotNumber why = why_no_number(value_begin, end);
    return {why.at, {kEntry, why.hint == nullptr ? kDecimalHint : why.hint}};
  }
  if (q != end) return {q, {kEntry, kDecimalHint}};
  row.add(ref_to(batch, p, p + colon), field.substr(0, colon), value);
  return {};
}

}  // namespace

Verdict PairsParser::read_line(Batch& batch, const char* begin, const char* end) {
  const char* const label = skip_blanks(begin, end);
  if (label == end) return {};
  const char* const label_end = field_end(label, end);
  const std::string_view text{label, static_cast<std::size_t>(label_end - label)};
  if (is_entry(text)) return {label, kNoLabel};
  NamedRow row(batch);
  const char* const first = skip_blanks(label_end, end);
  for (const char* p = first; p != end;) {
    p = skip_blanks(row.add_plain(p, read_plain_pairs), end);
    if (p == end) break;
    const char* const q = field_end(p, end);
    const Verdict verdict = read_entry(batch, row, p, q);
    if (!verdict.good()) return verdict;
    p = skip_blanks(q, end);
  }
  row.finish();
  if (!merge_.merge(batch)) return {first, kSum};
  end_row(batch, begin, text);
  return {};
}

void PairsParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kText;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 4 + 1);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

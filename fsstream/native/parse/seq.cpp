#include "parse/seq.hpp"

#include "parse/label.hpp"
#include "parse/lines.hpp"

namespace fsstream {

namespace {

constexpr Fault kNoTab{"label<TAB>DNA",
                       "a row without a label begins with the tab; FASTA and FASTQ are formats of their own"};

}  // namespace

Verdict SeqParser::read_line(Batch& batch, const char* begin, const char* end) {
  if (end != begin && end[-1] == '\r') --end;
  if (skip_blanks(begin, end) == end) return {};
  const auto* const tab = static_cast<const char*>(std::memchr(begin, '\t', static_cast<std::size_t>(end - begin)));
  if (tab == nullptr) return {end, kNoTab};
  const std::string_view letters = between(tab + 1, end);
  kmers_.begin_row(letters.size());
  if (const char* const stranger = kmers_.feed(batch, letters)) return {stranger, KmerCounter::kStranger};
  kmers_.end_row(batch);

  const std::string_view label = trim(between(begin, tab));
  batch.end_row(ref_to(batch, label), label_number(label), 1.0F, static_cast<std::uint32_t>(begin - batch.text));
  return {};
}

void SeqParser::parse(Batch& batch, bool skip_bad) {
  kmers_.start(batch);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

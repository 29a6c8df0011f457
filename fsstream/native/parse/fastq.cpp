#include "parse/fastq.hpp"

#include <algorithm>

namespace fsstream {

namespace {

constexpr Fault kNoHeader{"a header beginning with '@'", "a record is four lines: @id, sequence, +, quality"};
constexpr Fault kCutShort{"four lines: @id, sequence, +, quality", "the text ends within a record"};
constexpr Fault kNoPlus{"a line beginning with '+'",
                        "sequences on several lines are not read: put each sequence, and its quality, on one line"};
constexpr Fault kOtherHeader{"'+' alone or followed by the record's header",
                             "what follows '+' repeats the line of '@', or is left out"};
constexpr Fault kOtherLength{"a quality as long as its sequence",
                             "each base has one quality letter: is the record cut short?"};
constexpr Fault kNoQuality{"a quality letter ('!' to '~')", "qualities are printable letters without blanks"};

// The first byte that no quality is written with, or nullptr.
const char* no_quality(std::string_view quality) {
  unsigned strange = 0;
  for (const char c : quality) strange |= static_cast<unsigned>(c < '!') | static_cast<unsigned>(c > '~');
  if (strange == 0) return nullptr;
  for (const char& c : quality)
    if (c < '!' || c > '~') return &c;
  return nullptr;
}

}  // namespace

FastqRecord fastq_record_at(const char* p, const char* text_end) {
  FastqRecord record;
  do {
    const Line line = line_at(p, text_end);
    record.lines[record.size++] = line;
    p = line.next;
  } while (p != text_end && record.size < record.lines.size() && record.has_header());
  return record;
}

Verdict check_form(const FastqRecord& record) {
  if (!record.has_header()) return {record.header().begin, kNoHeader};
  if (record.size > 2 && (record.plus().size() == 0 || *record.plus().begin != '+'))
    return {record.plus().begin, kNoPlus};
  if (record.size < 4) return {record.last().end, kCutShort};
  const std::string_view again = record.plus().view().substr(1);
  if (!again.empty() && again != record.header().view().substr(1)) return {record.plus().begin + 1, kOtherHeader};
  if (record.quality().size() != record.sequence().size())
    return {record.quality().begin + std::min(record.quality().size(), record.sequence().size()), kOtherLength};
  if (const char* const strange = no_quality(record.quality().view())) return {strange, kNoQuality};
  return {};
}

Verdict FastqParser::read_record(Batch& batch, const FastqRecord& record) {
  const Verdict form = check_form(record);
  if (!form.good()) return form;
  const std::string_view letters = record.sequence().view();
  kmers_.begin_row(letters.size());
  if (const char* const stranger = kmers_.feed(batch, letters)) return {stranger, KmerCounter::kStranger};
  kmers_.end_row(batch);
  const RecordLabel label = labels_.find(batch, record.header().view().substr(1));
  batch.end_row(label.text, label.value, 1.0F, static_cast<std::uint32_t>(record.header().begin - batch.text));
  return {};
}

void FastqParser::parse(Batch& batch, bool skip_bad) {
  kmers_.start(batch);
  labels_.start(batch);
  const char* const end = batch.text + batch.text_size;
  for (const char* p = skip_to_record(batch.text, end); p != end; p = skip_to_record(p, end)) {
    const FastqRecord record = fastq_record_at(p, end);
    p = record.last().next;
    const Verdict verdict = read_record(batch, record);
    if (verdict.good()) continue;
    batch.drop_row();
    report(batch, record.header().begin, record.last().end, verdict);
    if (!skip_bad) return;
  }
}

Taken take_fastq(std::string_view text, std::size_t most) {
  const char* const end = text.data() + text.size();
  const char* p = skip_to_record(text.data(), end);
  Taken taken;
  while (p != end && taken.records < most) {
    const FastqRecord record = fastq_record_at(p, end);
    const bool whole = record.last().terminated() && (record.size == 4 || !record.has_header());
    if (!whole) break;
    p = skip_to_record(record.last().next, end);
    ++taken.records;
  }
  taken.bytes = static_cast<std::size_t>(p - text.data());
  return taken;
}

}  // namespace fsstream

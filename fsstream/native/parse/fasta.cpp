#include "parse/fasta.hpp"

#include <cstring>

#include "parse/lines.hpp"

namespace fsstream {

namespace {

constexpr Fault kNoHeader{"a header beginning with '>'", "FASTQ and other formats have to be asked for: see --format"};

// Where the record that begins at `begin` ends: before the next '>' that begins a line.
const char* record_end(const char* begin, const char* text_end) {
  for (const char* p = begin; p != text_end;) {
    p = line_at(p, text_end).next;
    if (p != text_end && *p == '>') return p;
  }
  return text_end;
}

// Without the line ends behind it.
const char* without_line_ends(const char* begin, const char* end) {
  while (end != begin && is_line_end(end[-1])) --end;
  return end;
}

}  // namespace

Verdict FastaParser::read_record(Batch& batch, const char* begin, const char* end) {
  if (*begin != '>') return {begin, kNoHeader};
  const Line header = line_at(begin, end);
  kmers_.begin_row(static_cast<std::size_t>(end - header.next));
  for (const char* p = header.next; p != end;) {
    const Line line = line_at(p, end);
    p = line.next;
    if (const char* const stranger = kmers_.feed(batch, line.view())) return {stranger, KmerCounter::kStranger};
  }
  kmers_.end_row(batch);
  const RecordLabel label = labels_.find(batch, header.view().substr(1));
  batch.end_row(label.text, label.value, 1.0F, static_cast<std::uint32_t>(begin - batch.text));
  return {};
}

void FastaParser::parse(Batch& batch, bool skip_bad) {
  kmers_.start(batch);
  labels_.start(batch);
  const char* const end = batch.text + batch.text_size;
  const char* next = nullptr;
  for (const char* p = skip_to_record(batch.text, end); p != end; p = next) {
    next = record_end(p, end);
    const Verdict verdict = read_record(batch, p, next);
    if (verdict.good()) continue;
    batch.drop_row();
    report(batch, p, without_line_ends(p, next), verdict);
    if (!skip_bad) return;
  }
}

std::size_t fasta_head(std::string_view text) {
  for (std::size_t end = text.size(); end > 1;) {
    const auto* const found = static_cast<const char*>(memrchr(text.data(), '>', end));
    if (found == nullptr) return 0;
    end = static_cast<std::size_t>(found - text.data());
    if (end > 0 && text[end - 1] == '\n') return end;
  }
  return 0;
}

Taken take_fasta(std::string_view text, std::size_t most) {
  const char* const end = text.data() + text.size();
  const char* p = skip_to_record(text.data(), end);
  Taken taken;
  while (p != end && taken.records < most) {
    const char* const next = record_end(p, end);
    if (next == end) break;  // the record may go on
    p = next;
    ++taken.records;
  }
  taken.bytes = static_cast<std::size_t>(p - text.data());
  return taken;
}

}  // namespace fsstream

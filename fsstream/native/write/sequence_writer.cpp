#include "write/sequence_writer.hpp"

#include "parse/fields.hpp"
#include "parse/header_labels.hpp"

namespace fsstream {

namespace {

constexpr Fault kTabLabel{"a label without tab or line end", "a tab ends the label in seq: use --to jsonl"};

// The header of a record as it was written; a label that it does not tell is put behind its id.
std::optional<Fault> write_header(const Batch& batch, std::size_t row, TextBuffer& out) {
  const char* const begin = batch.text + batch.records[row];
  const char* const text_end = batch.text + batch.text_size;
  const auto* feed = static_cast<const char*>(std::memchr(begin, '\n', static_cast<std::size_t>(text_end - begin)));
  const char* end = feed == nullptr ? text_end : feed;
  if (end != begin && end[-1] == '\r') --end;
  const std::string_view header{begin + 1, static_cast<std::size_t>(end - begin - 1)};
  const std::string_view label = batch.view(batch.labels[row]);
  if (label.empty() || label == header_label(header)) {
    out.add(header);
    return std::nullopt;
  }
  if (const std::optional<Fault> fault = check_word_label(label)) return fault;
  const auto id = static_cast<std::size_t>(field_end(header.begin(), header.end()) - header.begin());
  out.add(header.substr(0, id));
  out.add(" label=");
  out.add(label);
  out.add(header.substr(id));
  return std::nullopt;
}

}  // namespace

std::optional<Fault> SequenceWriter::write_front(const Batch& batch, std::size_t row, TextBuffer& out) const {
  if (form_ != SequenceForm::kSeq) {
    out.add(form_ == SequenceForm::kFasta ? '>' : '@');
    const std::optional<Fault> fault = write_header(batch, row, out);
    out.add('\n');
    return fault;
  }
  const std::string_view label = batch.view(batch.labels[row]);
  if (label.find_first_of(std::string_view{"\t\n\0", 3}) != label.npos) return kTabLabel;
  out.add(label);
  out.add('\t');
  return std::nullopt;
}

std::optional<Fault> SequenceWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  if (const std::optional<Fault> fault = write_front(batch, row, out)) return fault;
  const std::size_t begin = out.size();
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    const std::optional<Fault> no_count = check_count(value);
    for (float times = 0; !no_count && times < value; ++times) {
      if (out.size() != begin) out.add('N');
      out.add(pieces_[feature]);
    }
    return no_count;
  });
  const std::size_t letters = out.size() - begin;
  if (form_ == SequenceForm::kFastq) {
    out.add("\n+\n");
    for (std::size_t i = 0; i < letters; ++i) out.add('!');  // nothing is claimed
  }
  out.add('\n');
  return fault;
}

}  // namespace fsstream

#include "write/table_writer.hpp"

#include <algorithm>

namespace fsstream {

namespace {

constexpr Fault kTsvLabel{"a label without tab or line end", "tsv knows no quotes: use --to csv"};
constexpr Fault kBlankLine{"a cell", "a blank line is no row in tsv: use --to csv"};
constexpr Fault kWordTwice{"one word a cell", "a column of words cannot hold counts or two words: use --to jsonl"};

}  // namespace

std::optional<Fault> TableWriter::write_label(std::string_view label, TextBuffer& out) const {
  if (quotes_ == CellQuotes::kNone) {
    if (label.find_first_of("\t\n\r") != label.npos) return kTsvLabel;
    out.add(label);
  } else if (label.find_first_of(",\"\n\r") == label.npos) {
    out.add(label);
  } else {
    out.add('"');
    for (const char c : label) {
      if (c == '"') out.add('"');
      out.add(c);
    }
    out.add('"');
  }
  return std::nullopt;
}

std::optional<Fault> TableWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::size_t begin = out.size();
  const char comma = quotes_ == CellQuotes::kNone ? '\t' : ',';
  std::fill(row_.begin(), row_.end(), Cell{});
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    Cell& cell = row_[column_of_[feature]];
    if (cell.feature != KeptKeys::kNone || (!cells_[feature].empty() && value != 1)) return std::optional(kWordTwice);
    cell = {feature, value};
    return std::optional<Fault>{};
  });
  if (fault) return fault;
  if (labelled_) {
    if (const std::optional<Fault> bad = write_label(batch.view(batch.labels[row]), out)) return bad;
  }
  bool first = !labelled_;
  for (const Cell& cell : row_) {
    if (!first) out.add(comma);
    first = false;
    if (cell.feature == KeptKeys::kNone) continue;
    if (cells_[cell.feature].empty()) {
      out.add_decimal(cell.value);
    } else {
      out.add(cells_[cell.feature]);
    }
  }
  if (out.size() == begin) {
    if (quotes_ == CellQuotes::kNone) return kBlankLine;
    out.add("\"\"");
  }
  out.add('\n');
  return std::nullopt;
}

}  // namespace fsstream

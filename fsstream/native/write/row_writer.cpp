#include "write/row_writer.hpp"

#include "parse/fields.hpp"

namespace fsstream {

namespace {

constexpr Fault kWeight{"a row of weight 1", "of the formats only vw holds the weights of rows: --to vw"};
constexpr Fault kNoLabel{"a label", "only vw, csv, tsv and jsonl hold rows without label"};
constexpr Fault kBlankLabel{"a label without white space", "csv, tsv, seq and jsonl hold such labels"};
constexpr Fault kNoCount{"counts as values",
                         "the format repeats a feature for its value, a whole number up to 65,536: --to pairs"};
constexpr float kMostRepeated = 65536;

}  // namespace

std::optional<RowProblem> RowWriter::write(const Batch& batch, TextBuffer& out) {
  out.clear();
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::size_t before = out.size();
    std::optional<Fault> fault = write_row(batch, row, out);
    if (!fault && !keeps_weights() && batch.importance[row] != 1.0F) fault = kWeight;
    if (fault) {
      out.cut(before);
      return RowProblem{row, *fault};
    }
    if (!keeps_tags() && !batch.tags.empty() && batch.tags[row].length != 0) ++tags_left_out_;
  }
  return std::nullopt;
}

std::optional<Fault> check_count(float value) {
  if (value >= 0 && value <= kMostRepeated && value == std::trunc(value)) return std::nullopt;
  return kNoCount;
}

std::optional<Fault> check_word_label(std::string_view label) {
  if (label.empty()) return kNoLabel;
  const char* const end = label.data() + label.size();
  if (field_end(label.data(), end) != end || label.find('\0') != label.npos) return kBlankLabel;
  return std::nullopt;
}

}  // namespace fsstream

#include "write/line_writer.hpp"

#include "hash/identity.hpp"
#include "parse/json.hpp"
#include "parse/label.hpp"

namespace fsstream {

namespace {

constexpr Fault kEntryLabel{"a label", "it would be read as name:value: use --to jsonl"};
constexpr Fault kCommentLabel{"a label without '#'", "'#' begins a comment: use --to pairs"};
constexpr Fault kVwLabel{"a label without ':', '|' or a quote before it", "they have a meaning in vw: use --to pairs"};
constexpr Fault kNoVwLabel{"a label", "a weight follows a label in vw"};
constexpr Fault kUtf8Label{"a label in UTF-8", "JSON text is UTF-8: use --to pairs"};

// `qid:n` of a libsvm record, or nothing.
std::string_view query_of(const Batch& batch, std::size_t row) {
  const char* const end = batch.text + batch.text_size;
  const char* const behind = batch.view(batch.labels[row]).end();
  const char* const query = skip_blanks(behind, end);
  if (end - query < 4 || std::memcmp(query, "qid:", 4) != 0) return {};
  return {query, static_cast<std::size_t>(field_end(query, end) - query)};
}

bool is_json_number(std::string_view text) {
  JsonCursor json{text.data(), text.data() + text.size()};
  std::string scratch;
  std::string_view out;
  JsonKind kind;
  return read_json_scalar(json, scratch, out, kind).good() && kind == JsonKind::kNumber && json.at_end();
}

void add_json_string(std::string_view text, TextBuffer& out) {
  constexpr const char* kHex = "0123456789abcdef";
  out.add('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out.add('\\');
    if (byte >= 0x20) {
      out.add(c);
    } else {
      out.add("\\u00");
      out.add(kHex[byte >> 4]);
      out.add(kHex[byte & 15]);
    }
  }
  out.add('"');
}

}  // namespace

std::optional<Fault> EntryLineWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::string_view label = batch.view(batch.labels[row]);
  if (const std::optional<Fault> fault = check_word_label(label)) return fault;
  if (is_entry(label)) return kEntryLabel;
  if (numbered_ && label.find('#') != label.npos) return kCommentLabel;
  out.add(label);
  if (const std::string_view query = keeps_query_ ? query_of(batch, row) : ""; !query.empty()) {
    out.add(' ');
    out.add(query);
  }
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    out.add(pieces_[feature]);
    out.add_number(value);
    return std::optional<Fault>{};
  });
  out.add('\n');
  return fault;
}

std::optional<Fault> WordLineWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::string_view label = batch.view(batch.labels[row]);
  if (const std::optional<Fault> fault = check_word_label(label)) return fault;
  out.add(label);
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    const std::optional<Fault> no_count = check_count(value);
    for (float times = 0; !no_count && times < value; ++times) out.add(pieces_[feature]);
    return no_count;
  });
  out.add('\n');
  return fault;
}

std::optional<Fault> VwLineWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::string_view label = batch.view(batch.labels[row]);
  const float weight = batch.importance[row];
  if (!label.empty()) {
    if (const std::optional<Fault> fault = check_word_label(label)) return fault;
    if (label.find_first_of(":|") != label.npos || label[0] == '\'') return kVwLabel;
    out.add(label);
    out.add(' ');
  }
  if (weight != 1) {
    if (label.empty()) return kNoVwLabel;
    out.add_number(weight);
    out.add(' ');
  }
  if (!batch.tags.empty() && batch.tags[row].length != 0) {
    out.add('\'');
    out.add(batch.view(batch.tags[row]));
    out.add(' ');
  }
  out.add('|');
  std::uint32_t space = 0;  // the empty one
  bool first = true;
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    if (space_of_[feature] != space) {
      space = space_of_[feature];
      if (!first) out.add(" |");
      out.add(spaces_[space]);
    }
    first = false;
    out.add(pieces_[feature]);
    if (value != 1) {
      out.add(':');
      out.add_number(value);
    }
    return std::optional<Fault>{};
  });
  out.add('\n');
  return fault;
}

std::optional<Fault> JsonLineWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::string_view label = batch.view(batch.labels[row]);
  bool first = label.empty();
  out.add('{');
  if (!label.empty()) {
    if (!check_utf8(label.data(), label.data() + label.size()).good()) return kUtf8Label;
    out.add(label_key_);
    if (is_json_number(label)) {
      out.add(label);
    } else {
      add_json_string(label, out);
    }
  }
  const std::optional<Fault> fault = for_each_kept(batch, row, [&](std::uint32_t feature, float value) {
    if (!first) out.add(',');
    first = false;
    out.add(pieces_[feature]);
    out.add_number(value);
    return std::optional<Fault>{};
  });
  out.add("}\n");
  return fault;
}

std::optional<Fault> ColumnLineWriter::write_row(const Batch& batch, std::size_t row, TextBuffer& out) {
  const std::uint32_t feature = kept_.find(key_of_name(batch.view(batch.labels[row])));
  if (feature == KeptKeys::kNone) return std::nullopt;
  out.add(names_[feature]);
  for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, batch.keys[j]).ptr;
    out.add(' ');
    out.add({digits, static_cast<std::size_t>(end - digits)});
    out.add(':');
    out.add_number(batch.values[j]);
  }
  count(batch.row_end(row) - batch.row_begin(row));
  out.add('\n');
  return std::nullopt;
}

}  // namespace fsstream

#include "parse/header_labels.hpp"

#include <limits>

#include "parse/label.hpp"
#include "parse/lines.hpp"

namespace fsstream {

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::string_view first_word(std::string_view text) {
  return between(text.data(), field_end(text.data(), text.data() + text.size()));
}

}  // namespace

std::string_view header_label(std::string_view header) {
  constexpr std::string_view kKey = "label=";
  const char* const end = header.data() + header.size();
  for (const char* p = skip_blanks(header.data(), end); p != end; p = skip_blanks(field_end(p, end), end)) {
    const std::string_view word = between(p, field_end(p, end));
    if (word.starts_with(kKey)) return word.substr(kKey.size());
  }
  return {};
}

HeaderLabels::HeaderLabels(const Table& table) {
  for (const auto& [name, label] : table) table_.insert_or_assign(name, Entry{label, label_number(label)});
}

const HeaderLabels::Entry* HeaderLabels::entry(std::string_view name) const {
  const auto found = table_.find(name);
  return found == table_.end() ? nullptr : &found->second;
}

void HeaderLabels::start(Batch& batch) {
  source_label_ = {{}, kNoNumber};
  if (table_.empty() || batch.source.empty()) return;
  const std::string_view source = batch.source;
  const Entry* label = entry(source);
  if (label == nullptr) label = entry(source.substr(source.rfind('/') + 1));
  if (label != nullptr) source_label_ = {batch.compose(label->text), label->value};
}

RecordLabel HeaderLabels::find(Batch& batch, std::string_view header) const {
  if (!table_.empty()) {
    if (const Entry* label = entry(first_word(header))) return {batch.compose(label->text), label->value};
    if (source_label_.text.length != 0) return source_label_;
  }
  const std::string_view label = header_label(header);
  if (label.empty()) return {{}, kNoNumber};
  return {ref_to(batch, label), label_number(label)};
}

}  // namespace fsstream

#include "parse/csv.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_set>
#include <utility>

#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "parse/byte_mask.hpp"
#include "parse/label.hpp"
#include "parse/lines.hpp"
#include "parse/plain_number.hpp"

namespace fsstream {

namespace {

constexpr Fault kTooFew{"a cell for every column", "the record has fewer cells than there are columns"};
constexpr const char* kHeaderHint =
    "all inputs have the same columns in the same order; --no-header: none has a header";
constexpr Fault kTooMany{"the end of the record", "the record has more cells than there are columns"};

// Behind the beginning of a record: a view, and what is read with a cell that begins in it.
constexpr std::size_t kReach = 64 + std::max(2 * kPiece, kWindow);

// With a column `a` and a column `a=b`, a cell of the one can spell a name of the other.
bool can_spell_alike(const std::vector<Column>& columns) {
  std::unordered_set<std::string_view> names;
  for (const Column& column : columns) names.insert(column.name);
  for (const std::string_view name : names)
    for (std::size_t at = name.find('='); at != std::string_view::npos; at = name.find('=', at + 1))
      if (names.contains(name.substr(0, at))) return true;
  return false;
}

}  // namespace

CsvParser::CsvParser(TableForm form, bool header, std::vector<Column> columns, MissingCells missing)
    : form_(form),
      header_(header),
      may_repeat_(can_spell_alike(columns)),
      missing_(std::move(missing)),
      list_stops_(best_stop_lister(form)) {
  for (Column& column : columns) {
    const Key key = key_of_name(column.name);
    const std::string prefix = column.name + '=' + std::string(kPiece, '\0');
    plans_.push_back({std::move(column), key, prefix, {}});
  }
  stops_.reserve(plans_.size() + kBehindStops);
}

void CsvParser::start(Batch& batch) {
  batch.naming = Naming::kText;
  // An entry takes two bytes of a record at least: a cell and its separator.
  batch.reserve(0, batch.text_size / 2 + 1);
  for (Plan& plan : plans_)
    if (plan.column.kind == ColumnKind::kNumeric) plan.name = batch.compose(plan.column.name);
}

void CsvParser::check_header(const Batch& batch, const TableRecord& record) const {
  std::vector<std::string> names;
  const Verdict verdict = read_column_names(form_, record, header_, names);
  const auto differs = [](const Plan& plan, const std::string& name) { return plan.column.name != name; };
  const bool same =
      verdict.good() && std::equal(plans_.begin(), plans_.end(), names.begin(), names.end(), std::not_fn(differs));
  if (same) return;
  throw BadInput(batch.source + ":1: expected the header of the first input\n" + kHeaderHint);
}

Verdict CsvParser::read_number_cell(Batch& batch, const Plan& plan, const Cell& cell) {
  const std::string_view text = trim(cell.text);
  if (text.empty()) return {};
  float value;
  if (is_number(text, value)) {
    batch.keys.push_back(plan.key);
    batch.values.push_back(value);
    batch.names.push_back(plan.name);
    return {};
  }
  const std::string hint =
      "--categorical " + plan.column.name + " takes its cells as they are, --missing TEXT reads such a cell as empty";
  return {cell.begin, {batch.remark("a number in column '" + plan.column.name + "'"), batch.remark(hint)}};
}

Verdict CsvParser::read_category(Batch& batch, const Plan& plan, const Cell& cell) {
  if (cell.text.empty()) return {};
  if (plan.front().size() + cell.text.size() > kLongestName) return {cell.begin, kLongName};
  const TextRef name = batch.compose(plan.front(), cell.text);
  batch.keys.push_back(key_of_name(batch.view(name)));
  batch.values.push_back(1.0F);
  batch.names.push_back(name);
  return {};
}

Verdict CsvParser::read_column(Batch& batch, const TableRecord& record, const Plan& plan, const char*& p,
                               Label& label) {
  if (plan.column.kind == ColumnKind::kNumeric && !missing_.any()) {  // most cells are numbers and nothing else
    float value;
    const char* const behind = read_number(p, record.end, value);
    if (behind != nullptr && (behind == record.end || *behind == form_.separator)) {
      batch.keys.push_back(plan.key);
      batch.values.push_back(value);
      batch.names.push_back(plan.name);
      p = behind;
      return {};
    }
  }
  Cell cell;
  const Verdict verdict = read_cell(form_, record, p, scratch_, cell);
  if (!verdict.good()) return verdict;
  p = cell.end;
  cell.text = missing_.value_of(cell.text);
  if (plan.column.kind == ColumnKind::kNumeric) return read_number_cell(batch, plan, cell);
  if (plan.column.kind == ColumnKind::kCategorical) return read_category(batch, plan, cell);
  const std::string_view text = trim(cell.text);
  const bool in_text = cell.text.data() != scratch_.data();
  label.text = in_text ? ref_to(batch, text) : batch.compose(text);
  label.value = label_number(text);
  return {};
}

Verdict CsvParser::read_record(Batch& batch, const TableRecord& record) {
  const Verdict clean = check_text(record.begin, record.end);
  if (!clean.good()) return clean;
  Label label{{}, std::numeric_limits<double>::quiet_NaN()};
  const char* p = record.begin;
  for (std::size_t column = 0; column < plans_.size(); ++column) {
    if (column != 0 && p == record.end) return {p, kTooFew};
    if (column != 0) ++p;
    const Verdict verdict = read_column(batch, record, plans_[column], p, label);
    if (!verdict.good()) return verdict;
  }
  if (p != record.end) return {p, kTooMany};
  if (may_repeat_ && !merge_.merge(batch)) return {record.begin, kSum};
  batch.end_row(label.text, label.value, 1.0F, static_cast<std::uint32_t>(record.begin - batch.text));
  return {};
}

// A cell whose text may be read beyond its end.
[[gnu::always_inline]] inline bool CsvParser::add_cell(Batch& batch, ComposedRow& row, const Plan& plan,
                                                       std::string_view cell, Label& label) {
  if (missing_.any()) [[unlikely]]
    cell = missing_.value_of(cell);
  if (plan.column.kind == ColumnKind::kCategorical) {
    if (plan.front().size() + cell.size() > kLongestName) return false;
    row.add_word(batch, plan.front(), cell, !cell.empty());
    return true;
  }
  if (plan.column.kind == ColumnKind::kLabel) {
    const std::string_view text = trim(cell);
    label = {ref_to(batch, text), label_number(text)};
    return true;
  }
  if (cell.empty()) return true;
  float value;
  if (!read_plain_decimal(cell.data(), cell.data() + cell.size(), value)) {
    const std::string_view text = trim(cell);
    if (text.empty()) return true;
    if (!is_number(text, value)) return false;
  }
  row.add_number(plan.key, plan.name, value);
  return true;
}

template <bool kQuotes>
bool CsvParser::read_plain_cells(Batch& batch, const char* begin, const CellStops& found) {
  ComposedRow row(batch, waiting_);
  Label label{{}, std::numeric_limits<double>::quiet_NaN()};
  const std::uint32_t* stop = stops_.data();
  const char* p = begin;
  std::size_t quotes = 0;  // that open and close cells, or are doubled in those
  for (const Plan& plan : plans_) {
    const char* const end = begin + *stop++;
    std::string_view cell = between(p, end);
    if (kQuotes && *p == '"') {  // another quote stands before the end, or this were no stop
      if (end[-1] != '"') return false;
      cell = cell.substr(1, cell.size() - 2);
      quotes += 2;
      if (found.doubled && cell.find('"') != std::string_view::npos) {
        if (plan.column.kind == ColumnKind::kLabel) return false;
        if (scratch_.size() < cell.size() + kWindow) scratch_.resize(cell.size() + kWindow);
        const std::size_t size = undouble(cell, scratch_.data());
        if (size == kNotDoubled) return false;
        quotes += 2 * (cell.size() - size);
        cell = {scratch_.data(), size};
      }
    }
    if (!add_cell(batch, row, plan, cell, label)) return false;
    p = end + 1;
  }
  if (quotes != found.quotes) return false;
  row.finish(batch);
  if (may_repeat_ && !merge_.merge(batch)) return false;
  batch.end_row(label.text, label.value, 1.0F, static_cast<std::uint32_t>(begin - batch.text));
  return true;
}

const char* CsvParser::read_plain_record(Batch& batch, const char* begin) {
  const char* const text_end = batch.text + batch.text_size;
  const bool in_reach = static_cast<std::size_t>(text_end - begin) >= kReach;
  if (!in_reach || is_line_end(*begin) || *begin == kByteOrderMark.front()) return nullptr;
  const CellStops found = list_stops_(begin, text_end - kReach, stops_.data(), plans_.size());
  if (found.cells == 0 || found.cells != plans_.size()) return nullptr;
  std::uint32_t& feed = stops_[found.cells - 1];
  const char* const next = begin + feed + 1;
  if (begin[feed - 1] == '\r') --feed;
  const bool plain =
      found.quotes == 0 ? read_plain_cells<false>(batch, begin, found) : read_plain_cells<true>(batch, begin, found);
  if (plain) return next;
  batch.drop_row();
  return nullptr;
}

void CsvParser::parse(Batch& batch, bool skip_bad) {
  start(batch);
  bool header_is_next = header_ && batch.starts_source;
  const char* const end = batch.text + batch.text_size;
  const char* next = nullptr;
  for (const char* p = batch.text; p != end; p = next) {
    if (!header_is_next && (next = read_plain_record(batch, p)) != nullptr) continue;
    const TableRecord record = table_record_at(form_, p, end);
    next = record.next;
    if (record.begin == record.end) continue;
    if (std::exchange(header_is_next, false)) {
      check_header(batch, record);
      continue;
    }
    const Verdict verdict = read_record(batch, record);
    if (verdict.good()) continue;
    batch.drop_row();
    report(batch, record.begin, record.end, verdict);
    if (!skip_bad) return;
  }
}

}  // namespace fsstream

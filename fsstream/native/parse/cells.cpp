#include "parse/cells.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "parse/byte_mask.hpp"
#include "parse/number.hpp"

namespace fsstream {

namespace {

constexpr Fault kUnclosed{"a closing quote", "a quoted cell ends with a quote; quotes within it are doubled"};
constexpr Fault kBehindQuote{"a separator behind the closing quote", "quotes within a quoted cell are doubled"};
constexpr Fault kStrayQuote{"a cell without quotes", "a cell that holds a quote is quoted, and its quotes are doubled"};

const char* find(const char* p, const char* end, char c) {
  return static_cast<const char*>(std::memchr(p, c, static_cast<std::size_t>(end - p)));
}

// Behind the quote that closes the cell which opens before `p`; nullptr when there is none.
const char* behind_quotes(const char* p, const char* end) {
  while (true) {
    const char* const quote = find(p, end, '"');
    if (quote == nullptr) return nullptr;
    if (quote + 1 == end || quote[1] != '"') return quote + 1;
    p = quote + 2;
  }
}

// The line feed behind the record at `p`, `end` when it is missing, nullptr within quotes.
const char* feed_behind_quotes(TableForm form, const char* p, const char* end) {
  while (true) {
    if (p != end && *p == '"') {
      p = behind_quotes(p + 1, end);
      if (p == nullptr) return nullptr;
    }
    while (p != end && *p != form.separator && *p != '\n') ++p;
    if (p == end || *p == '\n') return p;
    ++p;
  }
}

bool plain_decimal(std::string_view text) {
  float value;
  return text.find_first_of("eE") == std::string_view::npos && is_number(text, value);
}

}  // namespace

TableRecord table_record_at(TableForm form, const char* begin, const char* text_end) {
  begin = behind_mark(begin, text_end);
  const char* feed = find(begin, text_end, '\n');
  if (feed == nullptr) feed = text_end;
  const bool quotes = form.quotes && find(begin, feed, '"') != nullptr;
  if (quotes) feed = feed_behind_quotes(form, begin, text_end);
  const bool closed = feed != nullptr;
  if (!closed) feed = text_end;
  const char* const next = feed == text_end ? text_end : feed + 1;
  const bool carriage = closed && feed != begin && feed[-1] == '\r';
  return {begin, carriage ? feed - 1 : feed, next, quotes, closed};
}

std::size_t table_head(TableForm form, std::string_view text) {
  const bool lines = !form.quotes || text.find('"') == std::string_view::npos;
  const std::size_t whole = lines ? text.rfind('\n') + 1 : take_table(form, text, kAllRecords).bytes;
  const char* const end = text.data() + whole;
  return skip_line_ends(behind_mark(text.data(), end), end) == end ? 0 : whole;
}

Taken take_table(TableForm form, std::string_view text, std::size_t most) {
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  Taken taken;
  while (p != end && taken.records < most) {
    const TableRecord record = table_record_at(form, p, end);
    if (!record.closed || record.next[-1] != '\n') break;
    taken.records += record.begin != record.end;
    p = record.next;
  }
  taken.bytes = static_cast<std::size_t>(p - text.data());
  return taken;
}

std::size_t undouble(std::string_view quoted, char* to) {
  const char* p = quoted.data();
  const char* const end = p + quoted.size();
  char* out = to;
  while (p < end) {
    std::memcpy(out, p, kWindow);
    const std::uint32_t quotes = equal_to(p, '"');
    const auto plain = std::min<std::ptrdiff_t>(std::countr_zero(quotes), end - p);
    p += plain;
    out += plain;
    if (quotes == 0 || p == end) continue;
    if (p + 1 == end || p[1] != '"') return kNotDoubled;
    *out++ = '"';
    p += 2;
  }
  return static_cast<std::size_t>(out - to);
}

Verdict read_cell(TableForm form, const TableRecord& record, const char* p, std::string& scratch, Cell& cell) {
  cell.begin = p;
  if (record.has_quotes && p != record.end && *p == '"') {
    const char* const behind = behind_quotes(p + 1, record.end);
    if (behind == nullptr) return {p, kUnclosed};
    if (behind != record.end && *behind != form.separator) return {behind, kBehindQuote};
    cell.end = behind;
    cell.text = between(p + 1, behind - 1);
    if (find(p + 1, behind - 1, '"') == nullptr) return {};
    const std::string quoted = std::string(cell.text).append(kWindow, '\0');
    scratch.resize(quoted.size());
    const std::size_t size = undouble({quoted.data(), cell.text.size()}, scratch.data());
    scratch.resize(size);  // all are doubled, or the cell had ended
    cell.text = scratch;
    return {};
  }
  const char* const separator = find(p, record.end, form.separator);
  cell.end = separator == nullptr ? record.end : separator;
  cell.text = between(p, cell.end);
  if (record.has_quotes)
    if (const char* const quote = find(p, cell.end, '"')) return {quote, kStrayQuote};
  return {};
}

Verdict read_cells(TableForm form, const TableRecord& record, std::vector<std::string>& cells) {
  std::string scratch;
  cells.clear();
  for (Cell cell{nullptr, record.begin, {}};; ++cell.end) {
    const Verdict verdict = read_cell(form, record, cell.end, scratch, cell);
    if (!verdict.good()) return verdict;
    cells.emplace_back(cell.text);
    if (cell.end == record.end) return {};
  }
}

Verdict read_column_names(TableForm form, const TableRecord& record, bool header, std::vector<std::string>& names) {
  const Verdict verdict = read_cells(form, record, names);
  for (std::size_t c = 0; c < names.size(); ++c)
    if (!header || names[c].empty()) names[c] = std::to_string(c + 1).insert(0, 1, 'c');
  return verdict;
}

std::vector<bool> infer_numeric(TableForm form, std::string_view text, bool header, std::size_t columns,
                                std::size_t records, const MissingCells& missing) {
  std::vector<bool> numeric(columns, true);
  std::vector<std::string> cells;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end && records != 0;) {
    const TableRecord record = table_record_at(form, p, end);
    p = record.next;
    if (record.begin == record.end) continue;
    if (std::exchange(header, false)) continue;
    --records;
    if (!read_cells(form, record, cells).good() || cells.size() != columns) continue;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string_view value = trim(missing.value_of(cells[c]));
      if (numeric[c]) numeric[c] = value.empty() || plain_decimal(value);
    }
  }
  return numeric;
}

}  // namespace fsstream

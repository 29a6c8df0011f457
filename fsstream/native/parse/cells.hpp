// Records and cells of csv and tsv text.
//
// csv follows RFC 4180: a cell that begins with a quote ends at the next quote that is not
// doubled, and may hold separators and line ends; a quote anywhere else is malformed. tsv
// knows no quotes. Where a record ends does not depend on whether it is good: behind a closing
// quote, and in a cell that does not begin with one, quotes mean nothing.
//
// A byte order mark before a record is no part of it. Blanks are part of a cell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/lines.hpp"

namespace fsstream {

struct TableForm {
  char separator;
  bool quotes;
};

inline constexpr TableForm kCsv{',', true};
inline constexpr TableForm kTsv{'\t', false};

struct TableRecord {
  const char* begin;
  const char* end;   // without LF, CR LF
  const char* next;  // where the following record begins; the end of the text after the last
  bool has_quotes;   // worth looking for
  bool closed;       // false: the text ends within quotes
};

// The record at `begin`, which must lie before `text_end`.
TableRecord table_record_at(TableForm form, const char* begin, const char* text_end);

// Bytes of `text` up to the end of its last whole record; 0 when there are blank lines at most, so that
// the block which begins a source has its header.
std::size_t table_head(TableForm form, std::string_view text);

// The whole records at the front of `text`, `most` at most; blank lines do not count.
Taken take_table(TableForm form, std::string_view text, std::size_t most);

// A cell of a record: its bytes without quotes, where it began and where it ended (at a
// separator or at the record's end). Doubled quotes are undone in `scratch`.
struct Cell {
  const char* begin;
  const char* end;
  std::string_view text;
};
Verdict read_cell(TableForm form, const TableRecord& record, const char* p, std::string& scratch, Cell& cell);

// Writes the text between the quotes of a cell with doubled quotes undone; its size, or kNotDoubled where one stands
// alone. kWindow bytes must be readable behind it, and there must be room for as many behind its copy.
inline constexpr std::size_t kNotDoubled = static_cast<std::size_t>(-1);
std::size_t undouble(std::string_view quoted, char* to);

// What stands for no value, as an empty cell does: NA, ?. Blanks around it do not matter.
class MissingCells {
 public:
  explicit MissingCells(std::vector<std::string> spelled = {}) : spelled_(std::move(spelled)) {}

  bool any() const { return !spelled_.empty(); }
  // The cell's text, empty where it stands for no value.
  std::string_view value_of(std::string_view text) const {
    for (const std::string& missing : spelled_)
      if (trim(text) == missing) return text.substr(0, 0);
    return text;
  }

 private:
  std::vector<std::string> spelled_;
};

// All cells of a record; a malformed one is what the verdict says.
Verdict read_cells(TableForm form, const TableRecord& record, std::vector<std::string>& cells);

// The names of the columns that a header gives: its cells. A column without a name is called by
// its number from 1, `c7`, as all are where there is no header.
Verdict read_column_names(TableForm form, const TableRecord& record, bool header, std::vector<std::string>& names);

// Of each of `columns` columns: whether every cell in the first `records` records that is not
// empty, or missing, is a plain decimal, without exponent. Malformed records count for nothing.
std::vector<bool> infer_numeric(TableForm form, std::string_view text, bool header, std::size_t columns,
                                std::size_t records, const MissingCells& missing);

}  // namespace fsstream

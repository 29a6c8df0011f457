// csv and tsv: a table with a type for each column, one row a record.
//
// A cell of a numeric column is the feature `column` with its value, of a categorical column
// the feature `column=cell` with value 1; an empty cell, or one that stands for none, is no feature.
// The label is the text of its cell.
//
// A header is the first record of each source; every source must have the same one. Blank
// lines are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parse/cell_stops.hpp"
#include "parse/cells.hpp"
#include "parse/composed_row.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

enum class ColumnKind : std::uint8_t { kLabel, kNumeric, kCategorical };

struct Column {
  std::string name;
  ColumnKind kind;
};

class CsvParser final : public Parser {
 public:
  CsvParser(TableForm form, bool header, std::vector<Column> columns, MissingCells missing = MissingCells());
  void parse(Batch& batch, bool skip_bad) override;

 private:
  struct Plan {  // what is known of a column before its cells are seen
    Column column;
    Key key;             // of a numeric column
    std::string prefix;  // `column=`, and bytes that may be read with it
    TextRef name;        // of a numeric column, in the batch at hand

    std::string_view front() const { return {prefix.data(), column.name.size() + 1}; }
  };
  struct Label {
    TextRef text;
    double value;
  };

  void start(Batch& batch);
  void check_header(const Batch& batch, const TableRecord& record) const;

  // A record as nearly all are: where its cells stop is listed, and nothing is checked but whether it is one. Of any
  // other nothing is kept, and it is left to read_record. Returns what follows it, or nullptr.
  const char* read_plain_record(Batch& batch, const char* begin);
  template <bool kQuotes>
  bool read_plain_cells(Batch& batch, const char* begin, const CellStops& found);
  bool add_cell(Batch& batch, ComposedRow& row, const Plan& plan, std::string_view cell, Label& label);

  Verdict read_record(Batch& batch, const TableRecord& record);
  Verdict read_column(Batch& batch, const TableRecord& record, const Plan& plan, const char*& p, Label& label);
  Verdict read_number_cell(Batch& batch, const Plan& plan, const Cell& cell);
  Verdict read_category(Batch& batch, const Plan& plan, const Cell& cell);

  const TableForm form_;
  const bool header_;
  const bool may_repeat_;  // whether two cells of a row can spell one name
  const MissingCells missing_;
  const StopLister list_stops_;
  std::vector<Plan> plans_;
  RowMerge merge_;
  std::string scratch_;
  Buffer<std::uint32_t> stops_;  // of the cells of a record
  WaitingNames waiting_;
};

}  // namespace fsstream

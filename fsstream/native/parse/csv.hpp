// csv and tsv: a table with a type for each column, one row a record.
//
// A cell of a numeric column is the feature `column` with its value, of a categorical column
// the feature `column=cell` with value 1; an empty cell is no feature. The label is the text of
// its cell.
//
// A header is the first record of each source; every source must have the same one. Blank
// lines are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parse/cells.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

enum class ColumnKind : std::uint8_t { kLabel, kNumeric, kCategorical };

struct Column {
  std::string name;
  ColumnKind kind;
};

class CsvParser final : public Parser {
 public:
  CsvParser(TableForm form, bool header, std::vector<Column> columns);
  void parse(Batch& batch, bool skip_bad) override;

 private:
  struct Plan {  // what is known of a column before its cells are seen
    Column column;
    Key key;             // of a numeric column
    std::string prefix;  // `column=`
    TextRef name;        // of a numeric column, in the batch at hand
  };
  struct Label {
    TextRef text;
    double value;
  };

  void start(Batch& batch);
  void check_header(const Batch& batch, const TableRecord& record) const;
  Verdict read_record(Batch& batch, const TableRecord& record);
  Verdict read_column(Batch& batch, const TableRecord& record, const Plan& plan, const char*& p, Label& label);
  Verdict read_number_cell(Batch& batch, const Plan& plan, const Cell& cell);
  Verdict read_category(Batch& batch, const Plan& plan, const Cell& cell);

  const TableForm form_;
  const bool header_;
  const bool may_repeat_;  // whether two cells of a row can spell one name
  std::vector<Plan> plans_;
  RowMerge merge_;
  std::string scratch_;
};

}  // namespace fsstream

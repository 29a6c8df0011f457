// Rows of csv and tsv: the label, then a cell for each column.
#pragma once

#include "write/row_writer.hpp"

namespace fsstream {

enum class CellQuotes : bool { kNone, kDoubled };

// A feature has a column, and a cell where the column holds words; an empty one means its value.
class TableWriter : public RowWriter {
 public:
  TableWriter(std::span<const Key> keys, std::vector<std::uint32_t> column_of, std::vector<std::string> cells,
              std::size_t columns, bool labelled, CellQuotes quotes)
      : RowWriter(keys),
        column_of_(std::move(column_of)),
        cells_(std::move(cells)),
        row_(columns),
        labelled_(labelled),
        quotes_(quotes) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  struct Cell {
    std::uint32_t feature = KeptKeys::kNone;
    float value = 0;
  };
  std::optional<Fault> write_label(std::string_view label, TextBuffer& out) const;

  std::vector<std::uint32_t> column_of_;
  std::vector<std::string> cells_;
  std::vector<Cell> row_;
  bool labelled_;
  CellQuotes quotes_;
};

}  // namespace fsstream

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/parse.hpp"
#include "parse/csv.hpp"
#include "parse/fasta.hpp"
#include "parse/fastq.hpp"
#include "parse/jsonl.hpp"
#include "parse/line_shapes.hpp"
#include "parse/seq.hpp"

namespace fsstream {

namespace {

std::string text_of(nb::handle bytes) {
  const auto held = nb::cast<nb::bytes>(bytes);
  return {held.c_str(), held.size()};
}

HeaderLabels::Table table_of(const nb::dict& labels) {
  HeaderLabels::Table table;
  for (const auto& [name, label] : labels) table.emplace_back(text_of(name), text_of(label));
  return table;
}

template <class Sequences>
void construct(Sequences* parser, int kmer, bool canonical, const nb::dict& labels) {
  new (parser) Sequences(kmer, canonical, table_of(labels));
}

TableForm form_of(std::string_view name) {
  if (name == "csv") return kCsv;
  if (name == "tsv") return kTsv;
  throw std::invalid_argument("a table is csv or tsv");
}

ColumnKind kind_of(std::string_view name) {
  if (name == "label") return ColumnKind::kLabel;
  if (name == "numeric") return ColumnKind::kNumeric;
  if (name == "categorical") return ColumnKind::kCategorical;
  throw std::invalid_argument("a column is label, numeric or categorical");
}

MissingCells missing_of(const nb::list& cells) {
  std::vector<std::string> spelled;
  for (const nb::handle cell : cells) spelled.push_back(text_of(cell));
  return MissingCells(std::move(spelled));
}

void construct_table(CsvParser* parser, std::string_view form, bool header, const nb::list& columns,
                     const nb::list& missing) {
  std::vector<Column> described;
  for (const nb::handle column : columns)
    described.push_back({text_of(column[0]), kind_of(nb::cast<std::string_view>(column[1]))});
  new (parser) CsvParser(form_of(form), header, std::move(described), missing_of(missing));
}

// The names of a table's columns, and what is wrong with its first record: (column, expected, hint) or None.
nb::tuple column_names(nb::handle buffer, std::string_view form, bool header) {
  const LentText text = lend(buffer);
  const char* const end = text.view.data() + text.view.size();
  std::vector<std::string> names;
  nb::object wrong = nb::none();
  for (const char* p = text.view.data(); p != end;) {
    const TableRecord record = table_record_at(form_of(form), p, end);
    p = record.next;
    if (record.begin == record.end) continue;
    const Verdict verdict = read_column_names(form_of(form), record, header, names);
    if (!verdict.good())
      wrong = nb::make_tuple(verdict.at - text.view.data(), verdict.fault.expected, verdict.fault.hint);
    break;
  }
  nb::list out;
  for (const std::string& name : names) out.append(nb::bytes(name.data(), name.size()));
  return nb::make_tuple(out, wrong);
}

std::vector<bool> numeric_columns(nb::handle buffer, std::string_view form, bool header, std::size_t columns,
                                  std::size_t records, const nb::list& missing) {
  return infer_numeric(form_of(form), lend(buffer).view, header, columns, records, missing_of(missing));
}

void bind_tables(nb::module_& m) {
  m.def(
      "table_head",
      [](nb::handle buffer, std::string_view form) { return table_head(form_of(form), lend(buffer).view); },
      nb::arg("buffer"), nb::arg("form"));
  m.def("column_names", &column_names, nb::arg("buffer"), nb::arg("form"), nb::arg("header"));
  m.def("numeric_columns", &numeric_columns, nb::arg("buffer"), nb::arg("form"), nb::arg("header"), nb::arg("columns"),
        nb::arg("records"), nb::arg("missing") = nb::list());
  nb::class_<CsvParser, Parser>(m, "CsvParser")
      .def("__init__", &construct_table, nb::arg("form"), nb::arg("header"), nb::arg("columns"),
           nb::arg("missing") = nb::list());
}

// The whole records at the front of a buffer: how many, and their bytes.
nb::tuple take_records(std::string_view form, nb::handle buffer, std::size_t most) {
  const LentText text = lend(buffer);
  Taken taken;
  if (form == "lines") {
    taken = take_lines(text.view, most);
  } else if (form == "fasta") {
    taken = take_fasta(text.view, most);
  } else if (form == "fastq") {
    taken = take_fastq(text.view, most);
  } else {
    taken = take_table(form_of(form), text.view, most);
  }
  return nb::make_tuple(taken.records, taken.bytes);
}

// Counts of lines, sequences, barred lines, fields, named fields, indexed fields.
nb::tuple line_shapes(nb::handle buffer) {
  const LentText text = lend(buffer);
  const LineShapes shapes = shapes_of_lines(text.view);
  return nb::make_tuple(shapes.lines, shapes.sequences, shapes.barred, shapes.fields, shapes.named, shapes.indexed);
}

}  // namespace

void bind_parse_records(nb::module_& m) {
  m.def("fasta_head", [](nb::handle buffer) { return fasta_head(lend(buffer).view); }, nb::arg("buffer"));
  m.def(
      "fastq_head", [](nb::handle buffer) { return take_fastq(lend(buffer).view, kAllRecords).bytes; },
      nb::arg("buffer"));
  m.def("take_records", &take_records, nb::arg("form"), nb::arg("buffer"), nb::arg("records"));
  nb::class_<SeqParser, Parser>(m, "SeqParser").def(nb::init<int, bool>(), nb::arg("kmer"), nb::arg("canonical"));
  nb::class_<FastaParser, Parser>(m, "FastaParser")
      .def("__init__", &construct<FastaParser>, nb::arg("kmer"), nb::arg("canonical"), nb::arg("labels"));
  nb::class_<FastqParser, Parser>(m, "FastqParser")
      .def("__init__", &construct<FastqParser>, nb::arg("kmer"), nb::arg("canonical"), nb::arg("labels"));
  nb::class_<JsonlParser, Parser>(m, "JsonlParser")
      .def(
          "__init__", [](JsonlParser* parser, nb::bytes label) { new (parser) JsonlParser(text_of(label)); },
          nb::arg("label"));
  bind_tables(m);
  m.def("line_shapes", &line_shapes, nb::arg("buffer"));
}

}  // namespace fsstream

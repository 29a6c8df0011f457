#include "bindings/parse.hpp"

#include <nanobind/stl/optional.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parse/array_rows.hpp"
#include "parse/columns.hpp"
#include "parse/libsvm.hpp"
#include "parse/name_filter.hpp"
#include "parse/normalized.hpp"
#include "parse/pairs.hpp"
#include "parse/tokens.hpp"
#include "parse/vw.hpp"

namespace fsstream {

namespace {

// Where the last whole line of the text ends: behind its line feed; 0 when there is none.
std::size_t lines_end(nb::handle buffer) {
  const LentText text = lend(buffer);
  const std::size_t feed = text.view.rfind('\n');
  return feed == std::string_view::npos ? 0 : feed + 1;
}

// Runs of bytes that are none of the separators.
std::size_t count_fields(nb::handle buffer, nb::bytes separators) {
  const LentText text = lend(buffer);
  std::array<bool, 256> parts{};
  for (std::size_t i = 0; i < separators.size(); ++i) parts[static_cast<unsigned char>(separators.c_str()[i])] = true;
  const nb::gil_scoped_release released;
  std::size_t fields = 0;
  bool between = true;
  for (const char c : text.view) {
    const bool parted = parts[static_cast<unsigned char>(c)];
    fields += between && !parted;
    between = parted;
  }
  return fields;
}

std::vector<std::string> byte_strings(const nb::list& texts) {
  std::vector<std::string> out;
  for (const nb::handle text : texts) {
    const auto bytes = nb::cast<nb::bytes>(text);
    out.emplace_back(bytes.c_str(), bytes.size());
  }
  return out;
}

using Place = Vector<std::uint64_t>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.size()};
}

// `lines` holds one line feed a row, as the rows' text, which the batch keeps alive.
void fill_from_arrays(ArrayRows& rows, nb::handle lines, Batch& batch, const nb::str& source, Place row_starts,
                      Place columns, Vector<float> values, Vector<std::uint32_t> labels, const nb::list& label_texts,
                      std::optional<Vector<float>> importance) {
  LentText text = lend(lines);
  batch.start(text.view, std::move(text.owner));
  batch.source = file_name(source);
  const std::vector<std::string> table = byte_strings(label_texts);
  const RowArrays arrays{span_of(row_starts), span_of(columns), span_of(values), span_of(labels),
                         importance ? span_of(*importance) : std::span<const float>{}};
  const nb::gil_scoped_release released;
  rows.fill(batch, arrays, table);
}

}  // namespace

void bind_parse(nb::module_& m) {
  m.def("lines_end", &lines_end, nb::arg("buffer"));
  m.def("count_fields", &count_fields, nb::arg("buffer"), nb::arg("separators"));
  nb::class_<Parser>(m, "Parser")
      .def("parse", &parse_buffer, nb::arg("buffer"), nb::arg("batch"), nb::arg("skip_bad") = false,
           nb::arg("source") = "", nb::arg("starts_source") = true);
  nb::class_<LibsvmParser, Parser>(m, "LibsvmParser").def(nb::init<>());
  nb::class_<PairsParser, Parser>(m, "PairsParser").def(nb::init<>());
  nb::class_<TokensParser, Parser>(m, "TokensParser").def(nb::init<std::size_t>(), nb::arg("ngrams") = 1);
  nb::class_<VwParser, Parser>(m, "VwParser").def(nb::init<>());
  nb::class_<ColumnsParser, Parser>(m, "ColumnsParser").def(nb::init<>());
  nb::class_<ArrayRows>(m, "ArrayRows")
      .def(
          "__init__",
          [](ArrayRows* self, const std::optional<nb::list>& names) {
            names ? new (self) ArrayRows(byte_strings(*names)) : new (self) ArrayRows();
          },
          nb::arg("names") = nb::none())
      .def("fill", &fill_from_arrays, nb::arg("lines"), nb::arg("batch"), nb::arg("source"), nb::arg("row_starts"),
           nb::arg("columns"), nb::arg("values"), nb::arg("labels"), nb::arg("label_texts"),
           nb::arg("importance") = nb::none());
  nb::class_<NameFilter>(m, "NameFilter")
      .def(
          "__init__",
          [](NameFilter* self, const nb::list& keep, const nb::list& ignore) {
            new (self) NameFilter(byte_strings(keep), byte_strings(ignore));
          },
          nb::arg("keep"), nb::arg("ignore"))
      .def("drop_entries", &NameFilter::drop_entries, nb::arg("batch"), nb::call_guard<nb::gil_scoped_release>());
  nb::class_<NormalizedParser, Parser>(m, "NormalizedParser")
      .def(nb::init<Parser&>(), nb::arg("parser"), nb::keep_alive<1, 2>());
  nb::class_<FilteredParser, Parser>(m, "FilteredParser")
      .def(
          "__init__",
          [](FilteredParser* self, Parser& parser, const nb::list& keep, const nb::list& ignore, bool rows) {
            new (self) FilteredParser(parser, NameFilter(byte_strings(keep), byte_strings(ignore)), rows);
          },
          nb::arg("parser"), nb::arg("keep"), nb::arg("ignore"), nb::arg("rows_are_features") = false,
          nb::keep_alive<1, 2>());
}

}  // namespace fsstream

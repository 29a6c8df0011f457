#include "bindings/parse.hpp"

#include <cstring>
#include <string>
#include <vector>

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

std::vector<std::string> patterns(const nb::list& texts) {
  std::vector<std::string> out;
  for (const nb::handle text : texts) {
    const auto bytes = nb::cast<nb::bytes>(text);
    out.emplace_back(bytes.c_str(), bytes.size());
  }
  return out;
}

}  // namespace

void bind_parse(nb::module_& m) {
  m.def("lines_end", &lines_end, nb::arg("buffer"));
  nb::class_<Parser>(m, "Parser")
      .def("parse", &parse_buffer, nb::arg("buffer"), nb::arg("batch"), nb::arg("skip_bad") = false,
           nb::arg("source") = "", nb::arg("starts_source") = true);
  nb::class_<LibsvmParser, Parser>(m, "LibsvmParser").def(nb::init<>());
  nb::class_<PairsParser, Parser>(m, "PairsParser").def(nb::init<>());
  nb::class_<TokensParser, Parser>(m, "TokensParser").def(nb::init<std::size_t>(), nb::arg("ngrams") = 1);
  nb::class_<VwParser, Parser>(m, "VwParser").def(nb::init<>());
  nb::class_<ColumnsParser, Parser>(m, "ColumnsParser").def(nb::init<>());
  nb::class_<NormalizedParser, Parser>(m, "NormalizedParser")
      .def(nb::init<Parser&>(), nb::arg("parser"), nb::keep_alive<1, 2>());
  nb::class_<FilteredParser, Parser>(m, "FilteredParser")
      .def(
          "__init__",
          [](FilteredParser* self, Parser& parser, const nb::list& keep, const nb::list& ignore, bool rows) {
            new (self) FilteredParser(parser, NameFilter(patterns(keep), patterns(ignore)), rows);
          },
          nb::arg("parser"), nb::arg("keep"), nb::arg("ignore"), nb::arg("rows_are_features") = false,
          nb::keep_alive<1, 2>());
}

}  // namespace fsstream

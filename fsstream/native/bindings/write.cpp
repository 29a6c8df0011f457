#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "write/line_writer.hpp"
#include "write/output_order.hpp"
#include "write/sequence_writer.hpp"
#include "write/table_writer.hpp"

namespace fsstream {

namespace {

// A row writer and the buffer its text lies in.
struct Writing {
  std::unique_ptr<RowWriter> writer;
  TextBuffer text;
};

std::vector<std::string> strings(nb::list texts) {
  std::vector<std::string> out;
  for (const nb::handle item : texts) {
    const auto text = nb::cast<nb::bytes>(item);
    out.emplace_back(text.c_str(), text.size());
  }
  return out;
}

std::vector<std::uint32_t> order_of(nb::sequence names, Vector<float> weights,
                                    const std::optional<std::vector<std::uint32_t>>& lists) {
  std::vector<nb::bytes> held;
  std::vector<std::string_view> views;
  for (const nb::handle name : names) {
    held.push_back(nb::cast<nb::bytes>(name));
    views.emplace_back(held.back().c_str(), held.back().size());
  }
  if (weights.size() != views.size() || (lists && lists->size() != views.size()))
    throw std::invalid_argument("one entry a feature");
  const std::span<const std::uint32_t> numbers =
      lists ? std::span<const std::uint32_t>(*lists) : std::span<const std::uint32_t>();
  return output_order(views, {weights.data(), weights.size()}, numbers);
}

std::vector<double> all_as_written(Vector<float> numbers) {
  std::vector<double> out;
  out.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) out.push_back(as_written(numbers(i)));
  return out;
}

using Keys = Vector<std::uint64_t>;

std::span<const Key> span_of(const Keys& keys) { return {keys.data(), keys.size()}; }

std::vector<std::string> pieces_of(const Keys& keys, nb::list texts) {
  std::vector<std::string> pieces = strings(texts);
  if (pieces.size() != keys.size()) throw std::invalid_argument("one text a key");
  return pieces;
}

std::vector<std::uint32_t> below(std::vector<std::uint32_t> numbers, std::size_t count, std::size_t limit) {
  if (numbers.size() != count) throw std::invalid_argument("one number a key");
  for (const std::uint32_t number : numbers)
    if (number >= limit) throw std::invalid_argument("a number that refers to nothing");
  return numbers;
}

template <class Writer, class... Arguments>
Writing make(Arguments&&... arguments) {
  return {std::make_unique<Writer>(std::forward<Arguments>(arguments)...), {}};
}

Writing lines(std::string_view form, Keys keys, nb::list texts, bool keeps_query) {
  std::vector<std::string> pieces = pieces_of(keys, texts);
  if (form == "tokens") return make<WordLineWriter>(span_of(keys), std::move(pieces));
  if (form == "columns") return make<ColumnLineWriter>(span_of(keys), std::move(pieces));
  return make<EntryLineWriter>(span_of(keys), std::move(pieces), form == "libsvm", keeps_query);
}

Writing vw_lines(Keys keys, nb::list texts, nb::list spaces, std::vector<std::uint32_t> space_of) {
  std::vector<std::string> names = strings(spaces);
  std::vector<std::uint32_t> numbers = below(std::move(space_of), keys.size(), names.size());
  return make<VwLineWriter>(span_of(keys), pieces_of(keys, texts), std::move(names), std::move(numbers));
}

Writing json_lines(Keys keys, nb::list texts, nb::bytes label_key) {
  return make<JsonLineWriter>(span_of(keys), pieces_of(keys, texts), std::string(label_key.c_str(), label_key.size()));
}

Writing sequences(std::string_view form, Keys keys, nb::list texts) {
  const auto which = form == "seq" ? SequenceForm::kSeq : form == "fasta" ? SequenceForm::kFasta : SequenceForm::kFastq;
  return make<SequenceWriter>(span_of(keys), pieces_of(keys, texts), which);
}

Writing table(std::string_view form, Keys keys, std::vector<std::uint32_t> column_of, nb::list cells,
              std::size_t columns, bool labelled) {
  return make<TableWriter>(span_of(keys), below(std::move(column_of), keys.size(), columns), pieces_of(keys, cells),
                           columns, labelled, form == "csv" ? CellQuotes::kDoubled : CellQuotes::kNone);
}

nb::tuple write(Writing& writing, const Batch& batch) {
  std::optional<RowProblem> problem;
  {
    const nb::gil_scoped_release free;
    problem = writing.writer->write(batch, writing.text);
  }
  const std::string_view text = writing.text.view();
  nb::object wrong = nb::none();
  if (problem) wrong = nb::make_tuple(problem->row, problem->fault.expected, problem->fault.hint);
  return nb::make_tuple(nb::bytes(text.data(), text.size()), wrong);
}

}  // namespace

void bind_write(nb::module_& m) {
  m.def("output_order", &order_of, nb::arg("names"), nb::arg("weights"), nb::arg("lists") = nb::none());
  m.def("as_written", &all_as_written, nb::arg("numbers"));
  nb::class_<Writing>(m, "RowWriter")
      .def("write", &write, nb::arg("batch"))
      .def_prop_ro("entries", [](const Writing& writing) { return writing.writer->entries(); })
      .def_prop_ro("tags_left_out", [](const Writing& writing) { return writing.writer->tags_left_out(); });
  m.def("line_writer", &lines, nb::arg("form"), nb::arg("keys"), nb::arg("pieces"), nb::arg("keeps_query") = false);
  m.def("vw_writer", &vw_lines, nb::arg("keys"), nb::arg("pieces"), nb::arg("spaces"), nb::arg("space_of"));
  m.def("json_writer", &json_lines, nb::arg("keys"), nb::arg("pieces"), nb::arg("label_key"));
  m.def("sequence_writer", &sequences, nb::arg("form"), nb::arg("keys"), nb::arg("pieces"));
  m.def("table_writer", &table, nb::arg("form"), nb::arg("keys"), nb::arg("column_of"), nb::arg("cells"),
        nb::arg("columns"), nb::arg("labelled"));
}

}  // namespace fsstream

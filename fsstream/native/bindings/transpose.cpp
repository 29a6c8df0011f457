#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/text.hpp"
#include "solve/column_merger.hpp"
#include "solve/transposer.hpp"

namespace fsstream {

namespace {

void feed(ColumnMerger& merger, std::size_t run, nb::handle chunk) {
  LentText text = lend(chunk);
  merger.feed(run, text.view, std::move(text.owner));
}

}  // namespace

void bind_transpose(nb::module_& m) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Transposer>(m, "Transposer")
      .def(nb::init<std::size_t>(), nb::arg("memory"))
      .def("add", &Transposer::add, nb::arg("batch"), nb::arg("row"), Released())
      .def("sort", &Transposer::sort, Released())
      .def("columns_to", &Transposer::columns_to, nb::arg("column"), nb::arg("max_entries"), nb::arg("out"), Released())
      .def("clear", &Transposer::clear)
      .def_prop_ro("full", &Transposer::full)
      .def_prop_ro("empty", &Transposer::empty)
      .def_prop_ro("columns", &Transposer::columns)
      .def_prop_ro("kmers", &Transposer::kmers)
      .def_prop_ro("collisions", &Transposer::collisions);
  nb::class_<ColumnMerger>(m, "ColumnMerger")
      .def(nb::init<std::size_t, bool>(), nb::arg("runs"), nb::arg("kmers"))
      .def("feed", &feed, nb::arg("run"), nb::arg("chunk"))
      .def("merge", &ColumnMerger::merge, nb::arg("max_entries"), nb::arg("out"), Released())
      .def_prop_ro("done", &ColumnMerger::done)
      .def_prop_ro("collisions", &ColumnMerger::collisions);
}

}  // namespace fsstream

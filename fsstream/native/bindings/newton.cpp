#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "learn/newton.hpp"

namespace fsstream {

namespace {

Floats update(Newton& newton, const Batch& batch) {
  return scores_of(batch, [&](float* scores) { newton.update(batch, scores); });
}

nb::dict counts(const Newton& newton) {
  nb::dict out;
  out["candidates"] = newton.candidates();
  out["prunes"] = newton.prunes();
  out["collisions"] = newton.active().collisions();
  out["rows_refitted"] = newton.rows_refitted();
  return out;
}

nb::list collided(const Newton& newton) { return collided_list(newton.active().collided()); }

}  // namespace

void bind_newton(nb::module_& m) {
  nb::class_<Newton>(m, "Newton")
      .def(
          "__init__",
          [](Newton* self, const std::string& loss, std::size_t k, int depth, std::size_t width, std::uint64_t seed,
             bool intercept, std::size_t memory, double forget, std::size_t room) {
            new (self) Newton(Loss(loss), BlockSketch(depth, width, seed), k, intercept, memory, forget, room);
          },
          nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("depth"), nb::arg("width"), nb::arg("seed"),
          nb::arg("intercept"), nb::arg("memory"), nb::arg("forget") = 1.0, nb::arg("room") = 0)
      .def("update", &update, nb::arg("batch"))
      .def("top", [](const Newton& newton) { return columns_of(newton.top()); })
      .def_prop_rw("intercept", &Newton::intercept, &Newton::set_intercept)
      .def("take_progress",
           [](Newton& newton) {
             const auto [loss, weight] = newton.take_progress();
             return nb::make_tuple(loss, weight);
           })
      .def("repeat_rows", &Newton::repeat_rows)
      .def_prop_ro("rows", &Newton::rows)
      .def_prop_ro("prior", &Newton::prior)
      .def_prop_ro("memory_used", &Newton::bytes)
      .def("allow", &Newton::allow, nb::arg("memory"))
      .def("counts", &counts)
      .def("collided", &collided)
      .def(
          "seed",
          [](Newton& newton, nb::bytes name, Key key, float weight) {
            newton.seed(key, std::string(name.c_str(), name.size()), weight);
          },
          nb::arg("name"), nb::arg("key"), nb::arg("weight"))
      .def("state", &state_of<Newton>)
      .def("save", &save_to<Newton>, nb::arg("out"))
      .def("restore", [](Newton& newton, nb::handle mapping) { newton.load(DictReader(mapping)); }, nb::arg("state"));
}

}  // namespace fsstream

#include "learn/bear.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace fsstream {

namespace {

nb::dict counts(const Bear& bear) {
  nb::dict out;
  for (const auto& [name, count] : bear.weights().counts()) out[name.c_str()] = count;
  out["pairs"] = bear.pairs();
  return out;
}

}  // namespace

void bind_bear(nb::module_& m) {
  nb::class_<Bear>(m, "Bear")
      .def(
          "__init__",
          [](Bear* self, const std::string& loss, std::size_t k, int depth, std::size_t width, std::uint64_t seed,
             std::size_t memory_pairs, std::size_t batch, double damping, double learning_rate, double l2,
             bool intercept, std::size_t memory) {
            if (k == 0 || batch == 0) throw std::invalid_argument("k and batch are at least 1");
            new (self) Bear(Loss(loss), {k, memory_pairs, batch, damping, learning_rate, l2, intercept, memory},
                            CountSketch(depth, width, seed));
          },
          nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("depth"), nb::arg("width"), nb::arg("seed"),
          nb::arg("memory_pairs"), nb::arg("batch"), nb::arg("damping"), nb::arg("learning_rate"), nb::arg("l2"),
          nb::arg("intercept"), nb::arg("memory"))
      .def(
          "update",
          [](Bear& bear, const Batch& batch) {
            return scores_of(batch, [&](float* scores) { bear.update(batch, scores); });
          },
          nb::arg("batch"))
      .def("end_pass", &Bear::end_pass)
      .def("top", [](const Bear& bear) { return columns_of(bear.weights().top()); })
      .def_prop_rw("intercept", &Bear::intercept, &Bear::set_intercept)
      .def("take_progress", &Bear::take_progress)
      .def_prop_ro("rows", &Bear::rows)
      .def_prop_ro("memory_used", &Bear::bytes)
      .def("allow", &Bear::allow, nb::arg("memory"))
      .def("counts", &counts)
      .def("collided", [](const Bear& bear) { return collided_list(bear.weights().collided()); })
      .def(
          "seed",
          [](Bear& bear, nb::bytes name, Key key, float weight) {
            bear.weights().seed(key, std::string(name.c_str(), name.size()), weight);
          },
          nb::arg("name"), nb::arg("key"), nb::arg("weight"))
      .def("state", &state_of<Bear>)
      .def("save", &save_to<Bear>, nb::arg("out"))
      .def("restore", [](Bear& bear, nb::handle mapping) { bear.load(DictReader(mapping)); }, nb::arg("state"));
}

}  // namespace fsstream

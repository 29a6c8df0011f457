#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "learn/newton.hpp"

namespace fsstream {

namespace {

nb::ndarray<nb::numpy, float> update(Newton& newton, const Batch& batch) {
  auto* scores = new float[batch.rows()];
  nb::capsule owner(scores, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    const nb::gil_scoped_release free;
    newton.update(batch, scores);
  }
  return {scores, {batch.rows()}, owner};
}

nb::tuple top(const Newton& newton) {
  nb::list names;
  Buffer<float> weights;
  for (const Chosen& chosen : newton.top()) {
    names.append(nb::bytes(chosen.name.data(), chosen.name.size()));
    weights.push_back(chosen.weight);
  }
  return nb::make_tuple(names, owned_array(std::span<const float>(weights.span())));
}

nb::dict counts(const Newton& newton) {
  nb::dict out;
  out["candidates"] = newton.candidates();
  out["prunes"] = newton.prunes();
  out["collisions"] = newton.active().collisions();
  return out;
}

nb::list collided(const Newton& newton) { return collided_list(newton.active().collided()); }

}  // namespace

void bind_newton(nb::module_& m) {
  nb::class_<Newton>(m, "Newton")
      .def(
          "__init__",
          [](Newton* self, const std::string& loss, std::size_t k, int depth, std::size_t width, std::uint64_t seed,
             bool intercept, std::size_t memory) {
            new (self) Newton(Loss(loss), CountSketch(depth, width, seed), k, intercept, memory);
          },
          nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("depth"), nb::arg("width"), nb::arg("seed"),
          nb::arg("intercept"), nb::arg("memory"))
      .def("update", &update, nb::arg("batch"))
      .def("top", &top)
      .def_prop_rw("intercept", &Newton::intercept, &Newton::set_intercept)
      .def("take_progress",
           [](Newton& newton) {
             const auto [loss, weight] = newton.take_progress();
             return nb::make_tuple(loss, weight);
           })
      .def_prop_ro("rows", &Newton::rows)
      .def_prop_ro("prior", &Newton::prior)
      .def_prop_ro("memory_used", &Newton::bytes)
      .def("counts", &counts)
      .def("collided", &collided)
      .def(
          "seed",
          [](Newton& newton, nb::bytes name, Key key, float weight) {
            newton.seed(key, std::string(name.c_str(), name.size()), weight);
          },
          nb::arg("name"), nb::arg("key"), nb::arg("weight"))
      .def("state",
           [](const Newton& newton) {
             DictWriter writer;
             newton.save(writer);
             return writer.take();
           })
      .def("restore", [](Newton& newton, nb::handle mapping) { newton.load(DictReader(mapping)); }, nb::arg("state"));
}

}  // namespace fsstream

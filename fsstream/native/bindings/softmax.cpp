#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "learn/softmax_learner.hpp"

namespace fsstream {

namespace {

nb::ndarray<nb::numpy, float, nb::ndim<2>> update(SoftmaxLearner& learner, const Batch& batch) {
  const std::size_t outputs = learner.classes_with(batch);
  return matrix_of(batch.rows(), outputs, [&](float* scores) { learner.update(batch, scores); });
}

// Names, weights, classes.
nb::ndarray<nb::numpy, float, nb::ndim<2>> predict(SoftmaxLearner& learner, const Batch& batch) {
  return matrix_of(batch.rows(), learner.classes(), [&](float* scores) { learner.predict(batch, scores); });
}

nb::tuple top(SoftmaxLearner& learner) {
  nb::list names;
  nb::list classes;
  Buffer<float> weights;
  for (const SoftmaxLearner::Chosen& chosen : learner.top()) {
    names.append(nb::bytes(chosen.name.data(), chosen.name.size()));
    classes.append(chosen.c);
    weights.push_back(chosen.weight);
  }
  return nb::make_tuple(names, float_array(weights.span()), classes);
}

nb::dict counts(const SoftmaxLearner& learner) {
  nb::dict out;
  out["candidates"] = learner.kept().size();
  out["prunes"] = learner.prunes();
  out["collisions"] = learner.kept().collisions();
  return out;
}

}  // namespace

void bind_softmax(nb::module_& m) {
  m.def("class_lanes", &ClassSketch::lanes_for, nb::arg("classes"));
  nb::class_<SoftmaxLearner>(m, "SoftmaxLearner")
      .def(
          "__init__",
          [](SoftmaxLearner* self, std::size_t classes, std::size_t k, bool adaptive, bool exact, double learning_rate,
             double l2, double forget, bool intercept, int depth, std::size_t width, std::size_t least_width,
             std::uint64_t seed, std::size_t memory) {
            new (self) SoftmaxLearner(
                {k, adaptive, exact, learning_rate, l2, forget, intercept, depth, width, least_width, seed, memory},
                classes);
          },
          nb::kw_only(), nb::arg("classes"), nb::arg("k"), nb::arg("adaptive"), nb::arg("exact"),
          nb::arg("learning_rate"), nb::arg("l2"), nb::arg("forget"), nb::arg("intercept"), nb::arg("depth"),
          nb::arg("width"), nb::arg("least_width"), nb::arg("seed"), nb::arg("memory"))
      .def("update", &update, nb::arg("batch"))
      .def("predict", &predict, nb::arg("batch"))
      .def("top", &top)
      .def_prop_ro("intercepts", &SoftmaxLearner::intercepts)
      .def("set_intercept", &SoftmaxLearner::set_intercept, nb::arg("c"), nb::arg("intercept"))
      .def("take_progress", &SoftmaxLearner::take_progress)
      .def_prop_ro("classes", &SoftmaxLearner::classes)
      .def_prop_ro("width", &SoftmaxLearner::width)
      .def_prop_ro("rows", &SoftmaxLearner::rows)
      .def_prop_ro("memory_used", &SoftmaxLearner::bytes)
      .def("counts", &counts)
      .def("collided", [](const SoftmaxLearner& learner) { return collided_list(learner.kept().collided()); })
      .def(
          "seed",
          [](SoftmaxLearner& learner, nb::bytes name, Key key, std::size_t c, float weight) {
            learner.seed(key, std::string(name.c_str(), name.size()), c, weight);
          },
          nb::arg("name"), nb::arg("key"), nb::arg("c"), nb::arg("weight"))
      .def("state", &state_of<SoftmaxLearner>)
      .def("save", &save_to<SoftmaxLearner>, nb::arg("out"))
      .def(
          "restore", [](SoftmaxLearner& learner, nb::handle mapping) { learner.load(DictReader(mapping)); },
          nb::arg("state"));
}

}  // namespace fsstream

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/additive_map.hpp"
#include "core/additive_model.hpp"
#include "solve/additive_scores.hpp"

namespace fsstream {

namespace {

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.size()};
}

std::vector<ValueRange> ranges_of(Vector<float> lows, Vector<float> highs) {
  if (lows.size() != highs.size()) throw std::invalid_argument("a range has two ends");
  std::vector<ValueRange> ranges;
  for (std::size_t j = 0; j < lows.size(); ++j) ranges.push_back({lows(j), highs(j)});
  return ranges;
}

// values x features
auto expand(const AdditiveMap& map, Vector<float> values, float low, float high) {
  return matrix_of(values.size(), map.features(), [&](float* out) {
    std::vector<double> knots(map.knots());
    std::vector<double> features(map.features());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::fill(knots.begin(), knots.end(), 0.0);
      if (values(i) != 0.0F) map.add(1.0, map.place(values(i), {low, high}), knots.data());
      map.features_of(knots.data(), features.data());
      for (const double feature : features) *out++ = static_cast<float>(feature);
    }
  });
}

}  // namespace

void bind_additive(nb::module_& m) {
  nb::class_<AdditiveMap>(m, "AdditiveMap")
      .def(nb::init<const std::string&, double>(), nb::arg("kernel"), nb::arg("shape"))
      .def_prop_ro("features", &AdditiveMap::features)
      .def("expand", &expand, nb::arg("values"), nb::arg("low"), nb::arg("high"));

  nb::class_<AdditiveScores>(m, "AdditiveScores")
      .def(
          "__init__",
          [](AdditiveScores* self, const FeatureScores& scores, const AdditiveMap& map, Vector<double> r,
             std::size_t limit) {
            if (r.size() != scores.rows()) throw std::invalid_argument("one residual a row");
            if (scores.ranges().size() != scores.features()) throw std::invalid_argument("ranges were not noted");
            new (self) AdditiveScores(scores, map, span_of(r), limit);
          },
          nb::arg("scores"), nb::arg("additive_map"), nb::arg("residuals"), nb::arg("limit"), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>())
      .def("add", &AdditiveScores::add, nb::arg("batch"), nb::arg("first_row"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &AdditiveScores::finish)
      .def("add_kept", &AdditiveScores::add_kept, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("done", &AdditiveScores::done)
      .def("squares", [](const AdditiveScores& self) { return owned_array(self.squares()); });

  nb::class_<AdditiveModel>(m, "AdditiveModel")
      .def(
          "__init__",
          [](AdditiveModel* self, const AdditiveMap& map, Vector<Key> keys, Vector<float> lows, Vector<float> highs,
             Vector<std::uint32_t> inputs, Vector<std::uint32_t> parts, Vector<float> weights,
             Vector<std::uint32_t> classes, Vector<double> intercepts) {
            new (self) AdditiveModel(map, span_of(keys), ranges_of(lows, highs), span_of(inputs), span_of(parts),
                                     span_of(weights), span_of(classes), span_of(intercepts));
          },
          nb::arg("additive_map"), nb::arg("keys"), nb::arg("lows"), nb::arg("highs"), nb::arg("inputs"),
          nb::arg("parts"), nb::arg("weights"), nb::arg("classes"), nb::arg("intercepts"))
      .def_prop_ro("outputs", &AdditiveModel::outputs)
      .def(
          "predict",
          [](const AdditiveModel& self, const Batch& batch) {
            return matrix_of(batch.rows(), self.outputs(), [&](float* scores) { self.predict(batch, scores); });
          },
          nb::arg("batch"));
}

}  // namespace fsstream

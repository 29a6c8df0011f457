#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/batch.hpp"
#include "core/label_map.hpp"
#include "core/linear_model.hpp"
#include "core/product_model.hpp"
#include "learn/loss_meter.hpp"

namespace fsstream {

namespace {

template <class T>
std::span<const T> span_of(const Vector<T>& vector) {
  return {vector.data(), vector.size()};
}

// Labels are bytes on the Python side: they need not be UTF-8.
std::string from_bytes(nb::handle bytes) {
  const auto text = nb::cast<nb::bytes>(bytes);
  return {text.c_str(), text.size()};
}

nb::list label_list(const LabelMap& map) {
  nb::list out;
  for (const std::string& label : map.labels()) out.append(nb::bytes(label.data(), label.size()));
  return out;
}

nb::object resolve(LabelMap& map, Batch& batch) {
  const auto problem = map.resolve(batch);
  if (!problem) return nb::none();
  return nb::make_tuple(problem->row, problem->fault.expected, problem->fault.hint);
}

template <class Model>
nb::ndarray<nb::numpy, float, nb::ndim<2>> predict(const Model& model, const Batch& batch) {
  return matrix_of(batch.rows(), model.outputs(), [&](float* scores) { model.predict(batch, scores); });
}

void measure(LossMeter& meter, const Batch& batch, nb::ndarray<const float, nb::c_contig, nb::device::cpu> scores) {
  const std::size_t outputs = batch.rows() == 0 ? 0 : scores.size() / batch.rows();
  if (outputs * batch.rows() != scores.size()) throw std::invalid_argument("scores are rows x outputs");
  const nb::gil_scoped_release free;
  meter.add(batch, scores.data(), outputs);
}

nb::list curve(const LossMeter& meter) {
  nb::list out;
  for (const auto& point : meter.curve()) out.append(nb::make_tuple(point.rows, point.mean, point.recent_mean));
  return out;
}

}  // namespace

void bind_model(nb::module_& m) {
  m.def(
      "canonical_label",
      [](nb::bytes text, double value) {
        const std::string label = canonical_label({text.c_str(), text.size()}, value);
        return nb::bytes(label.data(), label.size());
      },
      nb::arg("text"), nb::arg("value"));

  nb::class_<LabelMap>(m, "LabelMap")
      .def(
          "__init__",
          [](LabelMap* self, std::string_view kind, nb::list labels, std::size_t max_classes, bool open) {
            std::vector<std::string> known;
            for (const nb::handle label : labels) known.push_back(from_bytes(label));
            const auto which = kind == "numbers"  ? LabelMap::Kind::kNumbers
                               : kind == "binary" ? LabelMap::Kind::kBinary
                                                  : LabelMap::Kind::kClasses;
            new (self) LabelMap(which, std::move(known), max_classes, open);
          },
          nb::arg("kind"), nb::arg("labels"), nb::arg("max_classes") = 1000, nb::arg("growing") = true)
      .def(
          "set_weight", [](LabelMap& map, nb::bytes label, float weight) { map.set_weight(from_bytes(label), weight); },
          nb::arg("label"), nb::arg("weight"))
      .def("resolve", &resolve, nb::arg("batch"))
      .def_prop_ro("labels", &label_list);

  nb::class_<LinearModel>(m, "LinearModel")
      .def(
          "__init__",
          [](LinearModel* self, Vector<std::uint64_t> keys, Vector<float> weights, Vector<std::uint32_t> classes,
             Vector<double> intercepts) {
            new (self) LinearModel(span_of(keys), span_of(weights), span_of(classes), span_of(intercepts));
          },
          nb::arg("keys"), nb::arg("weights"), nb::arg("classes"), nb::arg("intercepts"))
      .def_prop_ro("outputs", &LinearModel::outputs)
      .def("predict", &predict<LinearModel>, nb::arg("batch"));

  nb::class_<ProductModel>(m, "ProductModel")
      .def(
          "__init__",
          [](ProductModel* self, Vector<std::uint64_t> a, Vector<std::uint64_t> b, Vector<std::uint8_t> product,
             Vector<float> weights, Vector<std::uint32_t> classes, Vector<double> intercepts) {
            new (self) ProductModel(span_of(a), span_of(b), span_of(product), span_of(weights), span_of(classes),
                                    span_of(intercepts));
          },
          nb::arg("a"), nb::arg("b"), nb::arg("product"), nb::arg("weights"), nb::arg("classes"), nb::arg("intercepts"))
      .def_prop_ro("outputs", &ProductModel::outputs)
      .def("predict", &predict<ProductModel>, nb::arg("batch"));

  nb::class_<LossMeter>(m, "LossMeter")
      .def(nb::init<const std::string&, bool>(), nb::arg("loss"), nb::arg("classes") = false)
      .def("add", &measure, nb::arg("batch"), nb::arg("scores"))
      .def_prop_ro("rows", &LossMeter::rows)
      .def_prop_ro("mean", &LossMeter::mean)
      .def_prop_ro("accuracy", &LossMeter::accuracy)
      .def_prop_ro("curve", &curve)
      .def("state", &state_of<LossMeter>)
      .def("save", &save_to<LossMeter>, nb::arg("out"))
      .def("restore", [](LossMeter& meter, nb::handle mapping) { meter.load(DictReader(mapping)); }, nb::arg("state"));
}

}  // namespace fsstream

// Random features: rows and their statistics, features by number, the solver, the model.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "solve/input_rows.hpp"
#include "solve/random_basis.hpp"
#include "solve/random_feature_model.hpp"
#include "solve/sparse_problem.hpp"

namespace fsstream {

namespace {

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
nb::ndarray<nb::numpy, T> own(const std::vector<T>& values) {
  return owned_array(std::span<const T>(values));
}

nb::ndarray<nb::numpy, float, nb::ndim<2>> matrix(std::size_t rows, std::size_t columns) {
  auto* data = new float[rows * columns];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  return {data, {rows, columns}, owner};
}

FeatureMap map_of(std::string_view shape, const Matrix& directions, const Vector<float>& offsets) {
  if (directions.shape(1) != offsets.size()) throw std::invalid_argument("one offset a feature");
  return {shape_named(shape), directions.shape(0), {directions.data(), directions.size()}, span_of(offsets)};
}

nb::tuple draw(const RandomBasis& basis, Vector<std::uint64_t> features) {
  auto directions = matrix(basis.inputs(), features.size());
  std::vector<float> offsets(features.size());
  {
    const nb::gil_scoped_release released;
    basis.draw(span_of(features), directions.data(), offsets.data());
  }
  return nb::make_tuple(directions, own(offsets));
}

nb::tuple moments(const InputRows& rows) {
  std::vector<double> mean, variance, smallest, largest;
  for (std::size_t input = 0; input < rows.inputs(); ++input) {
    const auto found = rows.moments(input);
    mean.push_back(found.mean);
    variance.push_back(found.variance);
    smallest.push_back(found.smallest);
    largest.push_back(found.largest);
  }
  return nb::make_tuple(own(mean), own(variance), own(smallest), own(largest));
}

nb::object sample(const InputRows& rows, std::size_t count) {
  const std::size_t taken = std::min<std::size_t>(count, rows.kept().rows);
  auto out = matrix(taken, rows.inputs());
  rows.sample(taken, out.data());
  return nb::cast(out);
}

// Which rows a problem is over: all, or those chosen, in order.
std::vector<std::uint32_t> chosen_rows(const SparseProblem& problem, const InputRows& rows,
                                       const Vector<std::uint32_t>& chosen) {
  const std::span<const std::uint32_t> numbers = span_of(chosen);
  const bool all = numbers.empty();
  if (problem.rows() != (all ? rows.rows() : numbers.size()) || (!all && numbers.back() >= rows.rows()) ||
      !std::ranges::is_sorted(numbers))
    throw std::invalid_argument("these are not the rows of the problem");
  return {numbers.begin(), numbers.end()};
}

// New columns of the problem, at weight 0, filled from rows in memory.
void fill_kept(SparseProblem& problem, const FeatureMap& map, const InputRows& rows,
               const Vector<std::uint32_t>& chosen) {
  if (!rows.all_kept() || map.inputs() != rows.inputs())
    throw std::invalid_argument("these rows and features do not belong together");
  const std::vector<std::uint32_t> numbers = chosen_rows(problem, rows, chosen);
  const nb::gil_scoped_release released;
  const auto columns = problem.open(map.features());
  RowsView view = rows.kept();
  if (!numbers.empty()) {
    view.chosen = numbers.data();
    view.rows = numbers.size();
  }
  map.fill(view, 0, columns.data(), problem.threads());
}

// Columns that are filled batch by batch.
class ColumnFiller {
 public:
  ColumnFiller(SparseProblem& problem, FeatureMap map, InputRows& rows, const Vector<std::uint32_t>& chosen)
      : rows_(rows),
        map_(std::move(map)),
        chosen_(chosen_rows(problem, rows, chosen)),
        threads_(problem.threads()),
        columns_(problem.open(map_.features())) {}

  void add(const Batch& batch, std::size_t first_row) {
    const std::size_t end_row = first_row + batch.rows();
    if (end_row > rows_.rows()) throw std::invalid_argument("more rows than in the first scan");
    const nb::gil_scoped_release released;
    RowsView view = rows_.read(batch);
    std::size_t to = first_row;
    if (!chosen_.empty()) {
      const auto begin = std::ranges::lower_bound(chosen_, first_row);
      view.chosen = chosen_.data() + (begin - chosen_.begin());
      view.rows = static_cast<std::size_t>(std::ranges::lower_bound(chosen_, end_row) - begin);
      view.first = first_row;
      to = static_cast<std::size_t>(begin - chosen_.begin());
    }
    map_.fill(view, to, columns_.data(), threads_);
  }

 private:
  InputRows& rows_;
  FeatureMap map_;
  std::vector<std::uint32_t> chosen_;
  std::size_t threads_;
  std::vector<float*> columns_;
};

nb::object map_rows(const FeatureMap& map, Matrix rows) {
  if (rows.shape(1) != map.inputs()) throw std::invalid_argument("rows x inputs");
  auto out = matrix(rows.shape(0), map.features());
  std::vector<std::uint32_t> inputs(map.inputs());
  for (std::size_t j = 0; j < inputs.size(); ++j) inputs[j] = static_cast<std::uint32_t>(j);
  for (std::size_t r = 0; r < rows.shape(0); ++r)
    map.row(inputs.data(), rows.data() + r * map.inputs(), inputs.size(), out.data() + r * map.features());
  return nb::cast(out);
}

nb::ndarray<nb::numpy, float, nb::ndim<2>> predict(const RandomFeatureModel& model, const Batch& batch) {
  auto scores = matrix(batch.rows(), model.outputs());
  const nb::gil_scoped_release released;
  model.predict(batch, scores.data());
  return scores;
}

void bind_rows(nb::module_& m) {
  m.def(
      "spread_rows", [](std::size_t rows, std::size_t count) { return own(spread_rows(rows, std::min(count, rows))); },
      nb::arg("rows"), nb::arg("count"));
  nb::class_<InputRows>(m, "InputRows")
      .def(nb::init<std::size_t, bool>(), nb::arg("limit"), nb::arg("logarithms") = false)
      .def("load", &InputRows::load, nb::arg("batch"), nb::call_guard<nb::gil_scoped_release>())
      .def("moments", &moments)
      .def("sample", &sample, nb::arg("count"))
      .def_prop_ro(
          "keys", [](const InputRows& rows) { return owned_array(rows.keys()); }, nb::rv_policy::move)
      .def("names",
           [](const InputRows& rows) {
             nb::list names;
             for (const std::string& name : rows.names()) names.append(nb::bytes(name.data(), name.size()));
             return names;
           })
      .def_prop_ro("targets",
                   [](nb::handle_t<InputRows> self) { return view_of(nb::cast<InputRows&>(self).targets(), self); })
      .def_prop_ro("importance",
                   [](nb::handle_t<InputRows> self) { return view_of(nb::cast<InputRows&>(self).importance(), self); })
      .def_prop_ro("rows", &InputRows::rows)
      .def_prop_ro("inputs", &InputRows::inputs)
      .def_prop_ro("all_kept", &InputRows::all_kept)
      .def_prop_ro("bytes", &InputRows::bytes);
}

void bind_features(nb::module_& m) {
  nb::class_<RandomBasis>(m, "RandomBasis")
      .def(
          "__init__",
          [](RandomBasis* self, std::string_view kernel, std::uint64_t seed, double width, double reach,
             Vector<std::uint64_t> keys, Vector<double> centres, Vector<double> inverses, Matrix anchors) {
            if (anchors.shape(1) != keys.size()) throw std::invalid_argument("anchors: rows x inputs");
            new (self) RandomBasis(kernel_named(kernel), seed, width, reach, span_of(keys), span_of(centres),
                                   span_of(inverses), {anchors.data(), anchors.size()});
          },
          nb::arg("kernel"), nb::arg("seed"), nb::arg("width"), nb::arg("reach"), nb::arg("keys"), nb::arg("centres"),
          nb::arg("inverses"), nb::arg("anchors"))
      .def("draw", &draw, nb::arg("features"));

  nb::class_<FeatureMap>(m, "FeatureMap")
      .def(
          "__init__",
          [](FeatureMap* self, std::string_view shape, Matrix directions, Vector<float> offsets) {
            new (self) FeatureMap(map_of(shape, directions, offsets));
          },
          nb::arg("shape"), nb::arg("directions"), nb::arg("offsets"))
      .def_prop_ro("features", &FeatureMap::features)
      .def("of", &map_rows, nb::arg("rows"))
      .def(
          "effects",
          [](const FeatureMap& self, Vector<float> weights, Matrix rows) {
            if (rows.shape(1) != self.inputs() || weights.size() != self.features())
              throw std::invalid_argument("rows x inputs, and one weight a feature");
            std::vector<double> found;
            {
              const nb::gil_scoped_release released;
              found = self.effects(span_of(weights), rows.data(), rows.shape(0));
            }
            return own(found);
          },
          nb::arg("weights"), nb::arg("rows"));

  nb::class_<RandomFeatureModel>(m, "RandomFeatureModel")
      .def(
          "__init__",
          [](RandomFeatureModel* self, const FeatureMap& map, bool logarithms, Vector<std::uint64_t> keys,
             Vector<float> weights, Vector<std::uint32_t> classes, Vector<double> intercepts) {
            new (self) RandomFeatureModel(map, logarithms, span_of(keys), span_of(weights), span_of(classes),
                                          span_of(intercepts));
          },
          nb::arg("features"), nb::arg("logarithms"), nb::arg("keys"), nb::arg("weights"), nb::arg("classes"),
          nb::arg("intercepts"))
      .def_prop_ro("outputs", &RandomFeatureModel::outputs)
      .def("predict", &predict, nb::arg("batch"));
}

void bind_problem(nb::module_& m) {
  nb::class_<SolveReport>(m, "SolveReport")
      .def_ro("objective", &SolveReport::objective)
      .def_ro("loss", &SolveReport::loss)
      .def_ro("gap", &SolveReport::gap)
      .def_ro("steps", &SolveReport::steps);

  nb::class_<SparseProblem>(m, "SparseProblem")
      .def(
          "__init__",
          [](SparseProblem* self, std::string_view loss, Vector<float> targets, Vector<float> importance,
             bool intercept, std::size_t threads) {
            new (self) SparseProblem(loss, span_of(targets), span_of(importance), intercept, threads);
          },
          nb::arg("loss"), nb::arg("targets"), nb::arg("importance"), nb::arg("intercept"), nb::arg("threads") = 1)
      .def_static("bytes_for", &SparseProblem::bytes_for, nb::arg("rows"), nb::arg("columns"))
      .def_prop_ro("columns", &SparseProblem::columns)
      .def_prop_ro(
          "weights", [](const SparseProblem& self) { return owned_array(self.weights()); }, nb::rv_policy::move)
      .def_prop_ro(
          "decision", [](const SparseProblem& self) { return owned_array(self.decision()); }, nb::rv_policy::move)
      .def_prop_ro("intercept", &SparseProblem::intercept)
      .def(
          "column",
          [](const SparseProblem& self, std::size_t j) {
            if (j >= self.columns()) throw std::invalid_argument("no such column");
            return owned_array(self.column(j));
          },
          nb::arg("column"))
      .def(
          "retarget",
          [](SparseProblem& self, Vector<float> targets, Vector<float> importance) {
            self.retarget(span_of(targets), span_of(importance));
          },
          nb::arg("targets"), nb::arg("importance"))
      .def("fill_kept", &fill_kept, nb::arg("features"), nb::arg("rows"), nb::arg("chosen"))
      .def(
          "start_from",
          [](SparseProblem& self, Vector<double> weights, double intercept) {
            self.start_from(span_of(weights), intercept);
          },
          nb::arg("weights"), nb::arg("intercept"))
      .def(
          "keep", [](SparseProblem& self, Vector<std::uint32_t> columns) { self.keep(span_of(columns)); },
          nb::arg("columns"))
      .def(
          "solve",
          [](SparseProblem& self, double l1, double l2, double tolerance, std::size_t steps, bool bound) {
            const nb::gil_scoped_release released;
            return self.solve({l1, l2, tolerance, steps, bound});
          },
          nb::arg("l1"), nb::arg("l2") = 0.0, nb::arg("tolerance") = 1e-3, nb::arg("steps") = 1000,
          nb::arg("bound") = true)
      .def("gradients", [](SparseProblem& self) { return own(self.gradients()); })
      .def("slopes", [](const SparseProblem& self) { return own(self.slopes()); })
      .def("curvatures", [](const SparseProblem& self) { return own(self.curvatures()); })
      .def("loss", &SparseProblem::loss);

  nb::class_<ColumnFiller>(m, "ColumnFiller")
      .def(
          "__init__",
          [](ColumnFiller* self, SparseProblem& problem, const FeatureMap& map, InputRows& rows,
             const Vector<std::uint32_t>& chosen) { new (self) ColumnFiller(problem, map, rows, chosen); },
          nb::arg("problem"), nb::arg("features"), nb::arg("rows"), nb::arg("chosen"), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 4>())
      .def("add", &ColumnFiller::add, nb::arg("batch"), nb::arg("first_row"));
}

}  // namespace

void bind_random_features(nb::module_& m) {
  bind_rows(m);
  bind_features(m);
  bind_problem(m);
}

}  // namespace fsstream

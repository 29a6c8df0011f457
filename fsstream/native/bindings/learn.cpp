#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/batch.hpp"
#include "learn/accumulated_weights.hpp"
#include "learn/batched_weights.hpp"
#include "learn/class_descent.hpp"
#include "learn/dense_weights.hpp"
#include "learn/sgd.hpp"
#include "learn/sketched_weights.hpp"
#include "learn/thresholded_weights.hpp"
#include "learn/weight_median.hpp"
#include "learn/weight_table.hpp"
#include "sketch/count_min.hpp"

namespace fsstream {

namespace {

SgdOptions options_of(double learning_rate, double l2, double gamma, bool intercept, std::size_t memory,
                      double forget = 1.0) {
  return {learning_rate, l2, gamma, forget, intercept, memory};
}

// Stores that take a step after `batch` rows.
std::unique_ptr<Weights> batched(std::unique_ptr<Weights> weights, std::size_t batch) {
  if (batch == 0) throw std::invalid_argument("a batch has at least one row");
  if (batch == 1) return weights;
  return std::make_unique<BatchedWeights>(std::move(weights), batch);
}

Sgd mission(const std::string& loss, std::size_t k, bool exact, int depth, std::size_t width, std::uint64_t seed,
            std::size_t batch, double learning_rate, double l2, double gamma, double gamma_doubling, bool intercept,
            std::size_t memory, double forget) {
  std::unique_ptr<Weights> weights;
  if (exact)
    weights = std::make_unique<ExactWeights>(BlockSketch(depth, width, seed), k);
  else
    weights = std::make_unique<EstimatedWeights>(CountSketch(depth, width, seed), k);
  SgdOptions options = options_of(learning_rate, l2, gamma, intercept, memory, forget);
  options.gamma_doubling = gamma_doubling;
  return {Loss(loss), options, batched(std::move(weights), batch)};
}

Sgd hashing(const std::string& loss, int bits, std::uint64_t seed, double learning_rate, double l2, bool intercept,
            std::size_t memory) {
  if (bits < 1 || bits > 30) throw std::invalid_argument("bits go from 1 to 30");
  return {Loss(loss), options_of(learning_rate, l2, 1.0, intercept, memory),
          std::make_unique<DenseWeights>(bits, seed)};
}

// The stores of the thresholding baselines: `table` is 0 for iht, the entries of the table for batch-iht.
std::unique_ptr<Weights> thresholding(std::size_t k, std::size_t table, std::size_t batch) {
  if (k == 0 || (table != 0 && table <= k)) throw std::invalid_argument("k is at least 1, and a table holds more");
  if (table == 0) return batched(std::make_unique<ThresholdedWeights>(k), batch);
  return batched(std::make_unique<AccumulatedWeights>(k, table), batch);
}

Sgd iht(const std::string& loss, std::size_t k, std::size_t table, std::size_t batch, double learning_rate, double l2,
        bool intercept, std::size_t memory) {
  return {Loss(loss), options_of(learning_rate, l2, 1.0, intercept, memory), thresholding(k, table, batch)};
}

// MISSION with the identity sketch.
Sgd identity(const std::string& loss, std::size_t k, std::size_t batch, double learning_rate, double l2, double gamma,
             double gamma_doubling, bool intercept, std::size_t memory, double forget) {
  SgdOptions options = options_of(learning_rate, l2, gamma, intercept, memory, forget);
  options.gamma_doubling = gamma_doubling;
  return {Loss(loss), options, batched(std::make_unique<RememberingWeights<WeightTable>>(WeightTable(), k), batch)};
}

Floats update(Sgd& sgd, const Batch& batch) {
  return scores_of(batch, [&](float* scores) { sgd.update(batch, scores); });
}

Floats predict(Sgd& sgd, const Batch& batch) {
  return scores_of(batch, [&](float* scores) { sgd.predict(batch, scores); });
}

nb::tuple top(const Sgd& sgd) { return columns_of(sgd.weights().top()); }

Sgd awm(const std::string& loss, std::size_t k, int depth, std::size_t width, std::uint64_t seed, double learning_rate,
        double l2, bool intercept, std::size_t memory) {
  SgdOptions options = options_of(learning_rate, l2, 1.0, intercept, memory);
  options.slowing = true;
  return {Loss(loss), options, std::make_unique<WeightMedian>(CountSketch(depth, width, seed), k)};
}

// Names, weights, classes.
nb::tuple class_top(const ClassDescent& descent) {
  nb::list names;
  nb::list classes;
  Buffer<float> weights;
  for (std::size_t c = 0; c < descent.classes(); ++c)
    for (const Chosen& chosen : descent.weights(c).top()) {
      names.append(nb::bytes(chosen.name.data(), chosen.name.size()));
      classes.append(c);
      weights.push_back(chosen.weight);
    }
  return nb::make_tuple(names, float_array(weights.span()), classes);
}

// Sums over the classes.
nb::dict class_counts(const ClassDescent& descent) {
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t c = 0; c < descent.classes(); ++c)
    for (const auto& [name, count] : descent.weights(c).counts()) sums[name] += count;
  nb::dict out;
  for (const auto& [name, count] : sums) out[name.c_str()] = count;
  return out;
}

nb::dict counts(const Sgd& sgd) {
  nb::dict out;
  for (const auto& [name, count] : sgd.weights().counts()) out[name.c_str()] = count;
  return out;
}

nb::list collided(const Sgd& sgd) { return collided_list(sgd.weights().collided()); }

void seed(Sgd& sgd, nb::bytes name, Key key, float weight) {
  sgd.weights().seed(key, std::string(name.c_str(), name.size()), weight);
}

template <class Sketch>
HashedKeys hashed(const Sketch& sketch, Vector<Key> keys) {
  HashedKeys places;
  sketch.hash(keys.data(), keys.size(), places);
  return places;
}

template <class Sketch>
void add_all(Sketch& sketch, Vector<Key> keys, Vector<float> amounts) {
  if (keys.size() != amounts.size()) throw std::invalid_argument("one amount per key");
  sketch.kernels().add(sketch.rows(hashed(sketch, keys), 0), keys.size(), amounts.data());
}

template <class Sketch>
nb::ndarray<nb::numpy, float> query_all(Sketch& sketch, Vector<Key> keys) {
  Buffer<float> found;
  found.reserve(keys.size() + kSlack);
  found.set_size(keys.size());
  sketch.kernels().estimate(sketch.rows(hashed(sketch, keys), 0), keys.size(), found.data());
  return owned_array(std::span<const float>(found.span()));
}

template <class Sums>
void fill_cells(Sums& sums, Vector<float> cells) {
  if (cells.size() != sums.cells().size()) throw std::invalid_argument("cells of another sketch");
  std::copy(cells.data(), cells.data() + cells.size(), sums.cells().begin());
}

// Where the evidence of each key lies: a cell of the first row, or a pair.
template <class Sketch>
nb::ndarray<nb::numpy, std::uint32_t> evidence_places(const Sketch& sketch, Vector<Key> keys) {
  Buffer<std::uint32_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) places.push_back(sketch.evidence_place(keys(i)));
  return owned_array(std::span<const std::uint32_t>(places.span()));
}

template <class Sketch>
void bind_sketch(nb::module_& m, const char* name) {
  nb::class_<Sketch>(m, name)
      .def(nb::init<int, std::size_t, std::uint64_t>(), nb::arg("depth"), nb::arg("width"), nb::arg("seed"))
      .def("add", &add_all<Sketch>, nb::arg("keys"), nb::arg("amounts"))
      .def("query", &query_all<Sketch>, nb::arg("keys"))
      .def(
          "merge", [](Sketch& sketch, const Sketch& other) { sketch.add(other); }, nb::arg("other"))
      .def("evidence_places", &evidence_places<Sketch>, nb::arg("keys"))
      .def("fill", &fill_cells<Sketch>, nb::arg("cells"))
      .def("cells", [](const Sketch& sketch) { return owned_array(sketch.cells()); });
}

void raise_all(CountMin& sums, Vector<Key> keys, Vector<float> least) {
  if (keys.size() != least.size()) throw std::invalid_argument("one sum per key");
  for (std::size_t i = 0; i < keys.size(); ++i) sums.raise(keys(i), least(i));
}

nb::ndarray<nb::numpy, float> least_of_all(const CountMin& sums, Vector<Key> keys) {
  Buffer<float> found;
  for (std::size_t i = 0; i < keys.size(); ++i) found.push_back(sums.query(keys(i)));
  return owned_array(std::span<const float>(found.span()));
}

}  // namespace

void bind_learn(nb::module_& m) {
  bind_sketch<CountSketch>(m, "CountSketch");
  bind_sketch<BlockSketch>(m, "BlockSketch");

  nb::class_<CountMin>(m, "CountMin")
      .def(nb::init<int, std::size_t, std::uint64_t>(), nb::arg("depth"), nb::arg("width"), nb::arg("seed"))
      .def("raise_to", &raise_all, nb::arg("keys"), nb::arg("sums"))
      .def("query", &least_of_all, nb::arg("keys"))
      .def("fill", &fill_cells<CountMin>, nb::arg("cells"))
      .def("cells", [](const CountMin& sums) { return owned_array(std::span<const float>(sums.cells())); });

  nb::class_<Sgd>(m, "Sgd")
      .def_static("mission", &mission, nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("exact"), nb::arg("depth"),
                  nb::arg("width"), nb::arg("seed"), nb::arg("batch"), nb::arg("learning_rate"), nb::arg("l2"),
                  nb::arg("gamma"), nb::arg("gamma_doubling"), nb::arg("intercept"), nb::arg("memory"),
                  nb::arg("forget"))
      .def_static("identity", &identity, nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("batch"),
                  nb::arg("learning_rate"), nb::arg("l2"), nb::arg("gamma"), nb::arg("gamma_doubling"),
                  nb::arg("intercept"), nb::arg("memory"), nb::arg("forget"))
      .def_static("hashing", &hashing, nb::kw_only(), nb::arg("loss"), nb::arg("bits"), nb::arg("seed"),
                  nb::arg("learning_rate"), nb::arg("l2"), nb::arg("intercept"), nb::arg("memory"))
      .def_static("awm", &awm, nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("depth"), nb::arg("width"),
                  nb::arg("seed"), nb::arg("learning_rate"), nb::arg("l2"), nb::arg("intercept"), nb::arg("memory"))
      .def_static("iht", &iht, nb::kw_only(), nb::arg("loss"), nb::arg("k"), nb::arg("table"), nb::arg("batch"),
                  nb::arg("learning_rate"), nb::arg("l2"), nb::arg("intercept"), nb::arg("memory"))
      .def("end_pass", &Sgd::end_pass)
      .def("update", &update, nb::arg("batch"))
      .def("predict", &predict, nb::arg("batch"))
      .def("top", &top)
      .def_prop_rw("intercept", &Sgd::intercept, &Sgd::set_intercept)
      .def("take_progress",
           [](Sgd& sgd) {
             const auto [loss, weight] = sgd.take_progress();
             return nb::make_tuple(loss, weight);
           })
      .def_prop_ro("rows", &Sgd::rows)
      .def_prop_ro("memory_used", [](const Sgd& sgd) { return sgd.weights().bytes(); })
      .def("allow", &Sgd::allow, nb::arg("memory"))
      .def("bound_steps", &Sgd::bound_steps)
      .def("counts", &counts)
      .def("collided", &collided)
      .def("seed", &seed, nb::arg("name"), nb::arg("key"), nb::arg("weight"))
      .def("state", &state_of<Sgd>)
      .def("save", &save_to<Sgd>, nb::arg("out"))
      .def("restore", [](Sgd& sgd, nb::handle mapping) { sgd.load(DictReader(mapping)); }, nb::arg("state"));

  nb::class_<ClassDescent>(m, "ClassDescent")
      .def(
          "__init__",
          [](ClassDescent* self, std::size_t classes, std::size_t k, std::size_t table, std::size_t batch,
             double learning_rate, double l2, bool intercept, std::size_t memory) {
            new (self) ClassDescent(
                options_of(learning_rate, l2, 1.0, intercept, memory),
                [k, table, batch] { return thresholding(k, table, batch); }, classes);
          },
          nb::kw_only(), nb::arg("classes"), nb::arg("k"), nb::arg("table"), nb::arg("batch"), nb::arg("learning_rate"),
          nb::arg("l2"), nb::arg("intercept"), nb::arg("memory"))
      .def("end_pass", &ClassDescent::end_pass)
      .def(
          "update",
          [](ClassDescent& descent, const Batch& batch) {
            return matrix_of(batch.rows(), descent.classes_with(batch),
                             [&](float* scores) { descent.update(batch, scores); });
          },
          nb::arg("batch"))
      .def("top", &class_top)
      .def_prop_ro("intercepts", &ClassDescent::intercepts)
      .def("set_intercept", &ClassDescent::set_intercept, nb::arg("c"), nb::arg("intercept"))
      .def("take_progress", &ClassDescent::take_progress)
      .def_prop_ro("rows", &ClassDescent::rows)
      .def_prop_ro("memory_used", &ClassDescent::bytes)
      .def("counts", &class_counts)
      .def("collided", [](const ClassDescent&) { return nb::list(); })
      .def(
          "seed",
          [](ClassDescent& descent, nb::bytes name, Key key, std::size_t c, float weight) {
            descent.meet_classes(c + 1);
            descent.weights(c).seed(key, std::string(name.c_str(), name.size()), weight);
          },
          nb::arg("name"), nb::arg("key"), nb::arg("c"), nb::arg("weight"))
      .def("state", &state_of<ClassDescent>)
      .def("save", &save_to<ClassDescent>, nb::arg("out"))
      .def(
          "restore", [](ClassDescent& descent, nb::handle mapping) { descent.load(DictReader(mapping)); },
          nb::arg("state"));
}

}  // namespace fsstream

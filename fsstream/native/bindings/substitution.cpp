// Features that arrive one by one: the solvers of the columns family.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "bindings/bindings.hpp"
#include "bindings/solver_state.hpp"
#include "solve/asynchronous_substitution.hpp"
#include "solve/column_pool.hpp"
#include "solve/column_refit.hpp"
#include "solve/grafting.hpp"
#include "solve/proj_gd.hpp"
#include "solve/substitution.hpp"

namespace fsstream {

namespace {

std::span<const float> span_of(Vector<float> values) { return {values.data(), values.size()}; }

// What a solver tells Python about a feature it cannot take: (row, what is wrong, sample).
nb::object fault(std::size_t row, const char* what, Key sample) { return nb::make_tuple(row, what, sample); }

// Feeds a batch feature by feature without the GIL; the first bad one ends it.
template <class Solver>
nb::object feed(Solver& solver, FeatureReader& reader, const Batch& batch) {
  std::size_t row = 0;
  bool readable = true;
  bool repeated = false;
  {
    const nb::gil_scoped_release released;
    Feature feature;
    for (; row < batch.rows(); ++row) {
      readable = reader.read(batch, row, feature);
      if (!readable) break;
      repeated = solver.arrive(feature, reader) == Arrival::kRepeated;
      if (repeated) break;
    }
  }
  if (!readable) return fault(row, "sample", reader.bad_sample());
  if (repeated) return fault(row, "repeated", 0);
  return nb::none();
}

nb::list name_list(const std::vector<std::string>& names) {
  nb::list out;
  for (const std::string& name : names) out.append(nb::bytes(name.data(), name.size()));
  return out;
}

// Names, weights of the raw columns and the intercept.
nb::tuple outcome(const std::vector<std::string>& names, const RefittedModel& model) {
  std::vector<float> weights(model.weights.begin(), model.weights.end());
  return nb::make_tuple(name_list(names), owned_array(std::span<const float>(weights)), model.intercept);
}

template <class Solver>
void save_solver(Solver& solver, StateWriter& out) {
  SolverWriter writer(out);
  solver.visit_state(writer);
}

template <class Solver>
nb::dict solver_state(Solver& solver) {
  DictWriter out;
  save_solver(solver, out);
  return out.take();
}

template <class Solver>
void save_solver_to(Solver& solver, nb::handle sink) {
  SinkWriter out(sink);
  save_solver(solver, out);
}

template <class Solver>
void restore_into(Solver& solver, nb::object arrays) {
  SolverReader reader(std::move(arrays));
  if (!solver.visit_state(reader)) throw std::invalid_argument("the state does not fit together");
}

template <auto Solver, class Bound>
void bind_state(nb::class_<Bound>& bound) {
  bound.def("state", [](Bound& self) { return solver_state(self.*Solver); })
      .def(
          "save", [](Bound& self, nb::handle out) { save_solver_to(self.*Solver, out); }, nb::arg("out"))
      .def(
          "restore", [](Bound& self, nb::object arrays) { restore_into(self.*Solver, std::move(arrays)); },
          nb::arg("arrays"));
}

// The pool with the reader of its batches.
struct BoundColumnPool {
  BoundColumnPool(Vector<float> targets, std::size_t k, std::size_t columns, bool intercept, double ridge,
                  bool unit_scale, std::size_t memory)
      : pool(span_of(targets), {k, columns, intercept, ridge, unit_scale, memory}), reader(targets.size()) {}

  ColumnPool pool;
  FeatureReader reader;

  nb::tuple select(const std::string& loss, bool refitted) const {
    std::vector<std::size_t> slots = pool.best();
    slots.resize(std::min(slots.size(), pool.options().k));
    std::vector<std::string> names;
    for (const std::size_t slot : slots) names.push_back(pool.name(slot));
    const ColumnPoolOptions& options = pool.options();
    if (!refitted) return outcome(names, pool.current(slots));
    std::vector<double> targets = pool.targets();
    for (double& target : targets) target += pool.target_mean();
    const RefitOptions how{options.intercept, options.ridge, options.unit_scale};
    RefittedModel model;
    {
      const nb::gil_scoped_release released;
      model = fsstream::refit(pool.columns(), slots, targets, ColumnLoss(loss), how);
    }
    return outcome(names, model);
  }
};

void bind_pool(nb::module_& m) {
  using Bound = BoundColumnPool;
  auto bound =
      nb::class_<Bound>(m, "ColumnPool")
          .def(nb::init<Vector<float>, std::size_t, std::size_t, bool, double, bool, std::size_t>(), nb::arg("targets"),
               nb::arg("k"), nb::arg("columns") = 3, nb::arg("intercept") = true, nb::arg("ridge") = 0.0,
               nb::arg("unit_scale") = true, nb::arg("memory") = 0)
          .def(
              "update", [](Bound& self, const Batch& batch) { return feed(self.pool, self.reader, batch); },
              nb::arg("batch"))
          .def("end_scan", [](Bound& self) { self.pool.end_scan(); })
          .def("select", &Bound::select, nb::arg("loss"), nb::arg("refit") = true)
          .def_prop_ro("counts",
                       [](const Bound& self) {
                         const auto& counts = self.pool.counts();
                         return nb::make_tuple(counts.seen, counts.screened, counts.entered, counts.collisions);
                       })
          .def_prop_ro("model_size", [](const Bound& self) { return self.pool.tableau().model_size(); })
          .def_prop_ro("noise", [](const Bound& self) { return self.pool.noise(); })
          .def_prop_ro("retained", [](const Bound& self) { return name_list(self.pool.names()); })
          .def_prop_ro("column_bytes", [](const Bound& self) { return self.pool.columns().bytes(); });
  bind_state<&Bound::pool>(bound);
}

// The heaviest members of a set, refitted or as they are.
nb::tuple select_heaviest(const ColumnProblem& problem, const SubstitutionSet& set, std::size_t k, double intercept,
                          bool refitted) {
  const std::vector<std::size_t> slots = set.heaviest(k);
  std::vector<std::string> names;
  for (const std::size_t slot : slots) names.push_back(set.name(slot));
  RefittedModel model;
  {
    const nb::gil_scoped_release released;
    model = refitted ? fsstream::refit(set.columns(), slots, problem.y, problem.loss, problem.options)
                     : set.current(slots, intercept);
  }
  return outcome(names, model);
}

// A solver of Algorithm 1 with its problem and the reader of its batches.
struct BoundSubstitution {
  BoundSubstitution(Vector<float> targets, const std::string& loss, const RefitOptions& how,
                    const SubstitutionOptions& options)
      : problem(span_of(targets), loss, how), solver(problem, options), reader(targets.size()) {}

  ColumnProblem problem;
  Substitution solver;
  FeatureReader reader;
};

SubstitutionOptions::Rule rule_named(const std::string& name) {
  if (name == "paper") return SubstitutionOptions::Rule::kPaper;
  if (name == "projection") return SubstitutionOptions::Rule::kProjection;
  if (name == "proximal") return SubstitutionOptions::Rule::kProximal;
  throw std::invalid_argument("no such rule: " + name);
}

nb::dict progress_of(const Substitution& solver) {
  const auto& progress = solver.progress();
  nb::dict facts;
  facts["objective"] = progress.objective;
  facts["first_objective"] = progress.first_objective;
  facts["step_squares"] = progress.step_squares;
  facts["promised_descent"] = progress.promised;
  facts["curvature"] = progress.curvature;
  return facts;
}

void bind_rules(nb::module_& m) {
  using Bound = BoundSubstitution;
  auto bound = nb::class_<Bound>(m, "Substitution")
                   .def(
                       "__init__",
                       [](Bound* self, Vector<float> targets, const std::string& loss, const std::string& rule,
                          std::size_t k, double step, double retained_divisor, double descent, double l1,
                          bool intercept, double ridge, bool unit_scale) {
                         new (self) Bound(targets, loss, {intercept, ridge, unit_scale},
                                          {rule_named(rule), k, step, retained_divisor, descent, l1});
                       },
                       nb::arg("targets"), nb::arg("loss"), nb::arg("rule"), nb::arg("k"), nb::arg("step") = 0.0,
                       nb::arg("retained_divisor") = 1.0, nb::arg("descent") = 1e-4, nb::arg("l1") = 0.0,
                       nb::arg("intercept") = true, nb::arg("ridge") = 0.0, nb::arg("unit_scale") = true)
                   .def(
                       "update", [](Bound& self, const Batch& batch) { return feed(self.solver, self.reader, batch); },
                       nb::arg("batch"))
                   .def("end_scan", [](Bound& self) { self.solver.end_scan(); })
                   .def(
                       "select",
                       [](const Bound& self, bool refitted) {
                         return select_heaviest(self.problem, self.solver.set(), self.solver.options().k,
                                                self.solver.intercept(), refitted);
                       },
                       nb::arg("refit") = true)
                   .def_prop_ro("retained", [](const Bound& self) { return name_list(self.solver.set().names()); })
                   .def_prop_ro("counts",
                                [](const Bound& self) {
                                  const auto counts = self.solver.counts();
                                  return nb::make_tuple(counts[0], counts[1], counts[2], counts[3]);
                                })
                   .def_prop_ro("progress", [](const Bound& self) { return progress_of(self.solver); })
                   .def_prop_ro("column_bytes", [](const Bound& self) { return self.solver.set().bytes(); });
  bind_state<&Bound::solver>(bound);
}

struct BoundAsynchronous {
  BoundAsynchronous(Vector<float> targets, const std::string& loss, const RefitOptions& how,
                    const AsynchronousOptions& options)
      : problem(span_of(targets), loss, how), solver(problem, options) {}

  ColumnProblem problem;
  AsynchronousSubstitution solver;

  nb::object update(const Batch& batch) {
    AsynchronousSubstitution::Fault found{};
    {
      const nb::gil_scoped_release released;
      found = solver.update(batch);
    }
    if (found.row == AsynchronousSubstitution::kNoFault) return nb::none();
    return fault(found.row, found.repeated ? "repeated" : "sample", found.sample);
  }

  nb::tuple select(bool refitted) const {
    std::vector<std::string> names;
    RefittedModel model;
    {
      const nb::gil_scoped_release released;
      const FeatureColumns all = solver.gathered(names, model);
      std::vector<std::size_t> slots(names.size());
      std::iota(slots.begin(), slots.end(), std::size_t{0});
      if (refitted) model = fsstream::refit(all, slots, problem.y, problem.loss, problem.options);
    }
    return outcome(names, model);
  }

  nb::list counts() const {
    nb::list out;
    for (const auto& worker : solver.workers()) {
      const auto& c = worker->counts();
      out.append(nb::make_tuple(c.seen, c.entered, c.collisions, c.staleness, c.stalest));
    }
    return out;
  }
};

void bind_asynchronous(nb::module_& m) {
  using Bound = BoundAsynchronous;
  auto bound =
      nb::class_<Bound>(m, "AsynchronousSubstitution")
          .def(
              "__init__",
              [](Bound* self, Vector<float> targets, const std::string& loss, std::size_t k, std::size_t workers,
                 bool threads, double step, double retained_divisor, std::uint64_t seed, bool intercept, double ridge,
                 bool unit_scale) {
                new (self) Bound(targets, loss, {intercept, ridge, unit_scale},
                                 {k, workers, threads, step, retained_divisor, seed});
              },
              nb::arg("targets"), nb::arg("loss"), nb::arg("k"), nb::arg("workers"), nb::arg("threads") = false,
              nb::arg("step") = 0.0, nb::arg("retained_divisor") = 0.0, nb::arg("seed") = 0,
              nb::arg("intercept") = true, nb::arg("ridge") = 0.0, nb::arg("unit_scale") = true)
          .def("update", &Bound::update, nb::arg("batch"))
          .def("end_scan", [](Bound& self) { self.solver.end_scan(); })
          .def("select", &Bound::select, nb::arg("refit") = true)
          .def_prop_ro("counts", &Bound::counts)
          .def_prop_ro("objective", [](const Bound& self) { return self.solver.objective(); });
  bind_state<&Bound::solver>(bound);
}

// The two solvers whose scans are iterations of a search.
template <class Solver>
struct BoundSearch {
  template <class... Options>
  BoundSearch(Vector<float> targets, const std::string& loss, const RefitOptions& how, const Options&... options)
      : problem(span_of(targets), loss, how), solver(problem, options...), reader(targets.size()) {}

  ColumnProblem problem;
  Solver solver;
  FeatureReader reader;
};

template <class Solver>
nb::class_<BoundSearch<Solver>> bind_search(nb::module_& m, const char* name) {
  using Bound = BoundSearch<Solver>;
  auto bound = nb::class_<Bound>(m, name)
                   .def(
                       "update", [](Bound& self, const Batch& batch) { return feed(self.solver, self.reader, batch); },
                       nb::arg("batch"))
                   .def("end_scan", [](Bound& self) { return self.solver.end_scan(); })
                   .def_prop_ro("retained", [](const Bound& self) { return name_list(self.solver.set().names()); })
                   .def_prop_ro("column_bytes", [](const Bound& self) { return self.solver.set().bytes(); });
  bind_state<&Bound::solver>(bound);
  return bound;
}

void bind_searches(nb::module_& m) {
  using Projected = BoundSearch<ProjectedGradient>;
  bind_search<ProjectedGradient>(m, "ProjectedGradient")
      .def(
          "__init__",
          [](Projected* self, Vector<float> targets, const std::string& loss, std::size_t k, double step,
             bool intercept, double ridge, bool unit_scale) {
            new (self) Projected(targets, loss, RefitOptions{intercept, ridge, unit_scale}, k, step);
          },
          nb::arg("targets"), nb::arg("loss"), nb::arg("k"), nb::arg("step") = 0.0, nb::arg("intercept") = true,
          nb::arg("ridge") = 0.0, nb::arg("unit_scale") = true)
      .def(
          "select",
          [](const Projected& self, bool refitted) {
            return select_heaviest(self.problem, self.solver.set(), self.solver.k(), self.solver.intercept(), refitted);
          },
          nb::arg("refit") = true)
      .def_prop_ro("objective", [](const Projected& self) { return self.solver.objective(); })
      .def_prop_ro("curvature", [](const Projected& self) { return self.solver.curvature(); });
  using Grafted = BoundSearch<Grafting>;
  bind_search<Grafting>(m, "Grafting")
      .def(
          "__init__",
          [](Grafted* self, Vector<float> targets, const std::string& loss, std::size_t k, double l1,
             std::size_t memory, bool intercept, double ridge, bool unit_scale) {
            new (self)
                Grafted(targets, loss, RefitOptions{intercept, ridge, unit_scale}, GraftingOptions{k, l1, memory});
          },
          nb::arg("targets"), nb::arg("loss"), nb::arg("k") = 0, nb::arg("l1") = 0.0, nb::arg("memory") = 0,
          nb::arg("intercept") = true, nb::arg("ridge") = 0.0, nb::arg("unit_scale") = true)
      .def(
          "select",
          [](const Grafted& self, bool refitted) {
            const std::size_t k = self.solver.options().k;
            return select_heaviest(self.problem, self.solver.set(), k == 0 ? self.solver.set().size() : k,
                                   self.solver.intercept(), refitted);
          },
          nb::arg("refit") = true)
      .def_prop_ro("l1", [](const Grafted& self) { return self.solver.lambda(); })
      .def_prop_ro("counts", [](const Grafted& self) {
        const auto counts = self.solver.counts();
        return nb::make_tuple(counts[0], counts[1], counts[2], counts[3], counts[4]);
      });
}

}  // namespace

void bind_substitution(nb::module_& m) {
  bind_pool(m);
  bind_searches(m);
  bind_asynchronous(m);
  bind_rules(m);
}

}  // namespace fsstream

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "bindings/bindings.hpp"
#include "solve/candidate_collector.hpp"
#include "solve/column_cache.hpp"
#include "solve/column_collector.hpp"
#include "solve/empirical_loss.hpp"
#include "solve/feature_scores.hpp"
#include "solve/moreau.hpp"
#include "solve/pair_scores.hpp"
#include "solve/reduced_problem.hpp"

namespace fsstream {

namespace {

template <class T>
nb::ndarray<nb::numpy, T> own(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner);
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.size()};
}

FgmLoss loss_named(const std::string& name) {
  if (name == "squared-hinge") return FgmLoss::kSquaredHinge;
  if (name == "logistic") return FgmLoss::kLogistic;
  if (name == "squared") return FgmLoss::kSquared;
  throw std::invalid_argument("unknown loss: " + name);
}

nb::tuple keys_and_scores(const std::vector<FeatureScores::Scored>& found) {
  std::vector<Key> keys;
  std::vector<double> values;
  for (const auto& scored : found) {
    keys.push_back(scored.key);
    values.push_back(scored.score);
  }
  return nb::make_tuple(own(std::move(keys)), own(std::move(values)));
}

nb::tuple best_features(const FeatureScores& scores, std::size_t count, Vector<Key> without) {
  return keys_and_scores(scores.best(count, span_of(without)));
}

ReducedSolution solution_from(Vector<std::uint64_t> starts, Vector<std::uint32_t> members, Vector<double> weights,
                              double bias, double tau) {
  ReducedSolution solution;
  solution.starts.assign(starts.data(), starts.data() + starts.size());
  solution.members.assign(members.data(), members.data() + members.size());
  solution.weights.assign(weights.data(), weights.data() + weights.size());
  solution.bias = bias;
  solution.tau = tau;
  if (starts.size() == 0 || starts(0) != 0 || solution.starts.back() != members.size() ||
      !std::is_sorted(solution.starts.begin(), solution.starts.end()) || weights.size() != members.size())
    throw std::invalid_argument("starts, members and weights do not fit together");
  return solution;
}

void check_columns(const ColumnCache& cache, std::span<const std::uint32_t> columns) {
  for (const std::uint32_t column : columns)
    if (column >= cache.columns()) throw std::invalid_argument("no such column");
}

void check_problem(const ColumnCache& columns, const ReducedSolution& solution, Vector<double> targets,
                   Vector<double> costs) {
  if (targets.size() != columns.rows() || costs.size() != columns.rows())
    throw std::invalid_argument("one target and one cost a row");
  check_columns(columns, solution.members);
}

ReducedSolution solve(const ColumnCache& columns, const std::string& loss, Vector<double> targets, Vector<double> costs,
                      Vector<std::uint64_t> starts, Vector<std::uint32_t> members, Vector<double> weights, double bias,
                      double tau, const ProximalOptions& options) {
  ReducedSolution solution = solution_from(starts, members, weights, bias, tau);
  check_problem(columns, solution, targets, costs);
  const EmpiricalLoss empirical(loss_named(loss), span_of(targets), span_of(costs));
  const nb::gil_scoped_release released;
  solve_reduced(columns, empirical, options, solution);
  return solution;
}

void bind_scores(nb::module_& m) {
  nb::class_<FeatureScores>(m, "FeatureScores")
      .def(nb::init<std::size_t, std::size_t, bool, std::uint64_t>(), nb::arg("table_bytes"), nb::arg("row_bytes"),
           nb::arg("shift"), nb::arg("seed") = 0)
      .def(
          "derived_name",
          [](const FeatureScores& self, Key key) {
            const std::string name = self.derived_name(key);
            return nb::bytes(name.data(), name.size());
          },
          nb::arg("key"))
      .def("use_threads", &FeatureScores::use_threads, nb::arg("threads"))
      .def("note_namespaces", &FeatureScores::note_namespaces)
      .def("namespaces",
           [](const FeatureScores& self) {
             nb::list names;
             for (const std::string& name : self.namespace_names()) names.append(nb::bytes(name.data(), name.size()));
             return nb::make_tuple(own(self.namespaces()), names);
           })
      .def("large_namespaces",
           [](const FeatureScores& self) {
             std::vector<double> squares;
             for (const std::uint32_t number : self.large_namespaces().numbers())
               squares.push_back(self.large_namespaces().square(number));
             return nb::make_tuple(own(self.large_namespaces().numbers()), own(std::move(squares)));
           })
      .def_prop_ro("whole", &FeatureScores::whole)
      .def("note_ranges", &FeatureScores::note_ranges)
      .def(
          "keep_exact", [](FeatureScores& self, Vector<Key> keys) { self.keep_exact(span_of(keys)); }, nb::arg("keys"))
      .def_prop_ro("exact_met", &FeatureScores::exact_met)
      .def("ranges",
           [](const FeatureScores& self) {
             std::vector<float> lows, highs;
             for (const ValueRange& range : self.ranges()) {
               lows.push_back(range.low);
               highs.push_back(range.high);
             }
             return nb::make_tuple(own(std::move(lows)), own(std::move(highs)));
           })
      .def("load", &FeatureScores::load, nb::arg("batch"), nb::call_guard<nb::gil_scoped_release>())
      .def("finish_load", &FeatureScores::finish_load, nb::arg("slope"), nb::arg("offset"),
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "start",
          [](FeatureScores& self, Vector<double> r) {
            if (r.size() != self.rows()) throw std::invalid_argument("one residual a row");
            self.start(span_of(r));
          },
          nb::arg("residuals"))
      .def(
          "add",
          [](FeatureScores& self, const Batch& batch, std::size_t first_row) {
            if (first_row + batch.rows() > self.rows()) throw std::invalid_argument("more rows than in the first scan");
            const nb::gil_scoped_release released;
            self.add(batch, first_row);
          },
          nb::arg("batch"), nb::arg("first_row"))
      .def("best", &best_features, nb::arg("count"), nb::arg("without"))
      .def("keys", [](const FeatureScores& self) { return own(copied(self.keys())); })
      .def("scores", [](const FeatureScores& self) { return own(self.all()); })
      .def_prop_ro(
          "targets",
          [](nb::handle_t<FeatureScores> self) { return view_of(nb::cast<FeatureScores&>(self).targets(), self); })
      .def_prop_ro(
          "importance",
          [](nb::handle_t<FeatureScores> self) { return view_of(nb::cast<FeatureScores&>(self).importance(), self); })
      .def_prop_ro("rows", &FeatureScores::rows)
      .def_prop_ro("features", &FeatureScores::features)
      .def_prop_ro("entries", &FeatureScores::entries)
      .def_prop_ro("rows_kept", &FeatureScores::rows_kept)
      .def_prop_ro("sketched", &FeatureScores::sketched)
      .def_prop_ro("square_sum", &FeatureScores::square_sum)
      .def_prop_ro("bytes", &FeatureScores::bytes);
}

void bind_columns(nb::module_& m) {
  nb::class_<ColumnCache>(m, "ColumnCache")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("rows"), nb::arg("limit") = SIZE_MAX)
      .def_prop_ro("bytes", &ColumnCache::bytes)
      .def_prop_ro("columns", &ColumnCache::columns)
      .def("dense", &ColumnCache::dense, nb::arg("column"))
      .def("use_threads", &ColumnCache::use_threads, nb::arg("threads"))
      .def("expand_by", &ColumnCache::expand_by, nb::arg("additive_map"))
      .def("drop", &ColumnCache::drop, nb::arg("column"))
      .def(
          "square_sums",
          [](const ColumnCache& self, Vector<std::uint32_t> columns, Vector<double> costs) {
            if (costs.size() != self.rows()) throw std::invalid_argument("one cost a row");
            check_columns(self, span_of(columns));
            std::vector<double> sums(columns.size());
            self.square_sums(span_of(columns), span_of(costs), sums.data());
            return own(std::move(sums));
          },
          nb::arg("columns"), nb::arg("costs"))
      .def(
          "dots",
          [](const ColumnCache& self, Vector<std::uint32_t> columns, Vector<double> r) {
            if (r.size() != self.rows()) throw std::invalid_argument("one number a row");
            check_columns(self, span_of(columns));
            std::vector<double> sums(columns.size());
            self.dots(span_of(columns), span_of(r), sums.data());
            return own(std::move(sums));
          },
          nb::arg("columns"), nb::arg("r"));

  nb::class_<ColumnCollector>(m, "ColumnCollector")
      .def(
          "__init__",
          [](ColumnCollector* self, ColumnCache* columns, Vector<Key> keys, double factor) {
            new (self) ColumnCollector(columns, span_of(keys), factor);
          },
          nb::arg("columns").none(), nb::arg("keys"), nb::arg("factor") = 1.0, nb::keep_alive<1, 2>())
      .def(
          "__init__",
          [](ColumnCollector* self, ColumnCache& columns, Vector<Key> keys, const FeatureScores& scores) {
            new (self) ColumnCollector(columns, span_of(keys), scores);
          },
          nb::arg("columns"), nb::arg("keys"), nb::arg("scores"), nb::keep_alive<1, 2>())
      .def("add", &ColumnCollector::add, nb::arg("batch"), nb::arg("first_row"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("add_kept", &ColumnCollector::add_kept, nb::arg("rows"), nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &ColumnCollector::finish)
      .def_prop_ro(
          "columns", [](const ColumnCollector& self) { return own(self.columns()); }, nb::rv_policy::move)
      .def_prop_ro("collisions", &ColumnCollector::collisions)
      .def("names", [](const ColumnCollector& self) {
        nb::list out;
        for (const std::string& name : self.names()) out.append(nb::bytes(name.data(), name.size()));
        return out;
      });
}

nb::tuple ranked_candidates(const CandidateCollector& self, std::size_t count) {
  return keys_and_scores(self.ranked(count));
}

nb::list taken_candidates(CandidateCollector& self, std::size_t count, ColumnCache& cache) {
  nb::list out;
  for (const auto& found : self.take(count, cache))
    out.append(nb::make_tuple(found.key, found.score, nb::bytes(found.name.data(), found.name.size()), found.column));
  return out;
}

void bind_candidates(nb::module_& m) {
  nb::class_<CandidateCollector>(m, "CandidateCollector")
      .def(
          "__init__",
          [](CandidateCollector* self, const FeatureScores& scores, std::size_t candidates, std::size_t limit,
             Vector<Key> without) {
            if (!scores.sketched()) throw std::logic_error("c is known exactly");
            new (self) CandidateCollector(scores, candidates, limit, span_of(without));
          },
          nb::arg("scores"), nb::arg("candidates"), nb::arg("limit"), nb::arg("without"), nb::keep_alive<1, 2>())
      .def("add", &CandidateCollector::add, nb::arg("batch"), nb::arg("first_row"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &CandidateCollector::finish, nb::call_guard<nb::gil_scoped_release>())
      .def("ranked", &ranked_candidates, nb::arg("count"))
      .def("take", &taken_candidates, nb::arg("count"), nb::arg("cache"));
}

nb::tuple best_pairs(const PairScores& self, std::size_t count, Vector<Key> without) {
  std::vector<Key> pairs;
  std::vector<double> scores;
  for (const auto& found : self.best(count, span_of(without))) {
    pairs.push_back(found.a);
    pairs.push_back(found.b);
    scores.push_back(found.score);
  }
  return nb::make_tuple(own(std::move(pairs)), own(std::move(scores)));
}

void bind_pairs(nb::module_& m) {
  nb::class_<PairScores>(m, "PairScores")
      .def(
          "__init__",
          [](PairScores* self, const FeatureScores& scores, Vector<double> r, double cross_factor, double square_factor,
             std::size_t limit) {
            if (r.size() != scores.rows()) throw std::invalid_argument("one residual a row");
            new (self) PairScores(scores, span_of(r), cross_factor, square_factor, limit);
          },
          nb::arg("scores"), nb::arg("residuals"), nb::arg("cross_factor"), nb::arg("square_factor"), nb::arg("limit"),
          nb::keep_alive<1, 2>())
      .def("bound", &PairScores::bound, nb::arg("batch"), nb::arg("first_row"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("shortlist", &PairScores::shortlist, nb::arg("batch"), nb::call_guard<nb::gil_scoped_release>())
      .def("bound_kept", &PairScores::bound_kept, nb::call_guard<nb::gil_scoped_release>())
      .def("features_above", &PairScores::features_above, nb::arg("tau"))
      .def("start_sums", &PairScores::start_sums, nb::arg("count"))
      .def("sum", &PairScores::sum, nb::arg("batch"), nb::arg("first_row"), nb::call_guard<nb::gil_scoped_release>())
      .def("sum_kept", &PairScores::sum_kept, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("most_summed", &PairScores::most_summed)
      .def_prop_ro("summed", &PairScores::summed)
      .def("best", &best_pairs, nb::arg("count"), nb::arg("without"));

  nb::class_<PairCollector>(m, "PairCollector")
      .def(
          "__init__",
          [](PairCollector* self, ColumnCache& cache, Vector<Key> pairs, double cross_factor, double square_factor) {
            new (self) PairCollector(cache, span_of(pairs), cross_factor, square_factor);
          },
          nb::arg("cache"), nb::arg("pairs"), nb::arg("cross_factor"), nb::arg("square_factor"), nb::keep_alive<1, 2>())
      .def("add", &PairCollector::add, nb::arg("batch"), nb::arg("first_row"), nb::call_guard<nb::gil_scoped_release>())
      .def("add_kept", &PairCollector::add_kept, nb::arg("rows"), nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &PairCollector::finish)
      .def_prop_ro("columns", [](const PairCollector& self) { return own(self.columns()); }, nb::rv_policy::move);
}

void bind_solver(nb::module_& m) {
  nb::class_<ReducedSolution>(m, "ReducedSolution")
      .def_prop_ro(
          "weights", [](const ReducedSolution& s) { return own(s.weights); }, nb::rv_policy::move)
      .def_prop_ro(
          "decision", [](const ReducedSolution& s) { return own(s.decision); }, nb::rv_policy::move)
      .def_prop_ro(
          "history", [](const ReducedSolution& s) { return own(s.history); }, nb::rv_policy::move)
      .def_ro("bias", &ReducedSolution::bias)
      .def_ro("tau", &ReducedSolution::tau)
      .def_ro("objective", &ReducedSolution::objective)
      .def_ro("norm", &ReducedSolution::norm)
      .def_ro("iterations", &ReducedSolution::iterations);

  nb::class_<ProximalOptions>(m, "ProximalOptions")
      .def(
          "__init__",
          [](ProximalOptions* self, double tolerance, std::size_t iterations, double eta, bool shift, bool restart,
             bool cached_products) {
            new (self) ProximalOptions{tolerance, iterations, eta, shift, restart, cached_products};
          },
          nb::arg("tolerance") = 1e-3, nb::arg("iterations") = 10000, nb::arg("eta") = 0.8, nb::arg("shift") = false,
          nb::arg("restart") = true, nb::arg("cached_products") = true);

  m.def("solve_reduced", &solve, nb::arg("columns"), nb::arg("loss"), nb::arg("targets"), nb::arg("costs"),
        nb::arg("starts"), nb::arg("members"), nb::arg("weights"), nb::arg("bias"), nb::arg("tau"), nb::arg("options"));
  m.def(
      "fgm_residuals",
      [](const std::string& loss, Vector<double> targets, Vector<double> costs, Vector<double> decision) {
        if (costs.size() != targets.size() || decision.size() != targets.size())
          throw std::invalid_argument("one target, cost and decision value a row");
        std::vector<double> r(targets.size());
        EmpiricalLoss(loss_named(loss), span_of(targets), span_of(costs)).residuals(span_of(decision), r);
        return own(std::move(r));
      },
      nb::arg("loss"), nb::arg("targets"), nb::arg("costs"), nb::arg("decision"));
  m.def(
      "fgm_conjugate",
      [](const std::string& loss, Vector<double> targets, Vector<double> costs, Vector<double> r) {
        if (costs.size() != targets.size() || r.size() != targets.size())
          throw std::invalid_argument("one target, cost and residual a row");
        return EmpiricalLoss(loss_named(loss), span_of(targets), span_of(costs)).conjugate(span_of(r));
      },
      nb::arg("loss"), nb::arg("targets"), nb::arg("costs"), nb::arg("residuals"));
  m.def(
      "moreau_factors",
      [](Vector<double> norms, double tau) {
        std::vector<double> factors(norms.data(), norms.data() + norms.size());
        std::vector<double> sorted;
        const double total = moreau_factors(factors, tau, sorted);
        return nb::make_tuple(own(std::move(factors)), total);
      },
      nb::arg("norms"), nb::arg("tau"));
}

}  // namespace

void bind_generating_machine(nb::module_& m) {
  bind_scores(m);
  bind_columns(m);
  bind_candidates(m);
  bind_pairs(m);
  bind_solver(m);
}

}  // namespace fsstream

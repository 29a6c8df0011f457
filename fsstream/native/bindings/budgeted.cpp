// The learners that keep at most B weights, and the l1 methods they are measured against.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/batch.hpp"
#include "learn/b_amd.hpp"
#include "learn/b_arda.hpp"
#include "learn/l1_ladder.hpp"
#include "learn/ofs.hpp"
#include "learn/online_learner.hpp"
#include "learn/sofs.hpp"

namespace fsstream {

namespace {

Floats update(OnlineLearner& learner, const Batch& batch) {
  return scores_of(batch, [&](float* scores) { learner.update(batch, scores); });
}

std::unique_ptr<OnlineLearner> budgeted(const std::string& algorithm, const std::string& loss, std::size_t budget,
                                        double eta, double lambda, double delta, double gamma, bool intercept,
                                        bool weighted, std::size_t sketch_width, int sketch_depth, std::uint64_t seed,
                                        std::size_t memory) {
  const BudgetedOptions options{budget,   eta,          lambda,       delta, intercept,
                                weighted, sketch_width, sketch_depth, seed,  memory};
  if (algorithm == "b-arda") return std::make_unique<BArda>(Loss(loss), options);
  if (algorithm == "b-amd") return std::make_unique<BAmd>(Loss(loss), options);
  if (algorithm == "ofs") return std::make_unique<Ofs>(Loss(loss), options);
  if (algorithm == "sofs") return std::make_unique<Sofs>(gamma, options);
  throw std::invalid_argument("no such budgeted learner: " + algorithm);
}

std::unique_ptr<L1Ladder> l1_ladder(const std::string& method, const std::string& loss, std::vector<double> rungs,
                                    std::size_t k, double eta, double delta, bool intercept, std::size_t memory) {
  if (rungs.empty()) throw std::invalid_argument("a ladder has at least one rung");
  const bool dual = method == "l1-arda";
  if (!dual && method != "ada-fobos") throw std::invalid_argument("no such l1 method: " + method);
  return std::make_unique<L1Ladder>(dual ? L1Method::kDualAveraging : L1Method::kMirrorDescent, Loss(loss),
                                    L1Options{std::move(rungs), k, eta, delta, intercept, memory});
}

}  // namespace

void bind_budgeted(nb::module_& m) {
  nb::class_<OnlineLearner>(m, "OnlineLearner")
      .def("update", &update, nb::arg("batch"))
      .def("chosen", [](const OnlineLearner& learner) { return columns_of(learner.chosen()); })
      .def_prop_ro("intercept", &OnlineLearner::intercept)
      .def_prop_ro("features", &OnlineLearner::features)
      .def_prop_ro("memory_used", &OnlineLearner::bytes)
      .def("allow", &OnlineLearner::allow, nb::arg("memory"))
      .def_prop_ro("collisions", &OnlineLearner::collisions)
      .def("state", &state_of<OnlineLearner>)
      .def("save", &save_to<OnlineLearner>, nb::arg("out"))
      .def(
          "restore", [](OnlineLearner& learner, nb::handle mapping) { learner.load(DictReader(mapping)); },
          nb::arg("state"));
  nb::class_<L1Ladder, OnlineLearner>(m, "L1Ladder")
      .def("counts", &L1Ladder::counts)
      .def_prop_ro("best_rung", &L1Ladder::best_rung);

  m.def("budgeted", &budgeted, nb::arg("algorithm"), nb::kw_only(), nb::arg("loss"), nb::arg("budget"), nb::arg("eta"),
        nb::arg("lam") = 0.0, nb::arg("delta") = 0.01, nb::arg("gamma") = 1.0, nb::arg("intercept") = false,
        nb::arg("weighted") = true, nb::arg("sketch_width") = 0, nb::arg("sketch_depth") = 3, nb::arg("seed") = 0,
        nb::arg("memory") = std::size_t{1} << 30);
  m.def("l1_ladder", &l1_ladder, nb::arg("method"), nb::kw_only(), nb::arg("loss"), nb::arg("rungs"), nb::arg("k") = 0,
        nb::arg("eta"), nb::arg("delta") = 0.01, nb::arg("intercept") = false,
        nb::arg("memory") = std::size_t{1} << 30);
}

}  // namespace fsstream

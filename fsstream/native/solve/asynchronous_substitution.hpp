// Asynchronous Online Substitution (Asy-OS): Algorithms 2 and 3 of the paper.
//
// q workers retain s/q features each and share only the predictions u. On arrival of x_j at
// worker t: pull u; a gradient step eta/m on the worker's own weights, eta on w_j = 0; when that
// makes more than its share the smallest weight goes; push what its predictions changed by.
// There is no descent check. A feature belongs to the worker its key is mixed to (with the
// seed), so a worker can tell alone whether it retains an arrival.
//
// eta = 0.5 / L_F with L_F the worker's own estimate (see substitution.hpp), and m = sqrt(q)
// unless given: with staleness q, Theorem 2 asks for eta < 1 / (2 L_F (1 + q / (2 m^2 c))), so
// this m keeps the bound independent of the number of workers.
//
// Workers whose features do not fill their share leave places free. Those are filled in the end by
// what other workers turned away (turned_away.hpp), so that s features come out.
//
// The exchange is the only thing workers need of each other: in one process a simulation with a staleness
// fixed in advance, or memory that threads read and write without locks; over a network whatever
// implements pull and push.
#pragma once

#include <atomic>
#include <memory>

#include "solve/substitution_set.hpp"
#include "solve/turned_away.hpp"

namespace fsstream {

// Algorithm 2: holds u = sum of the workers' contributions.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // The predictions as worker `worker` may see them; returns the number of pushes so far.
  virtual std::uint64_t pull(std::size_t worker, std::vector<double>& u) = 0;
  // Adds to the worker's contribution; returns the number of pushes before this one.
  virtual std::uint64_t push(std::size_t worker, const std::vector<double>& change) = 0;
};

// The paper's simulation: a worker sees what the others pushed up to `staleness` pushes ago, and
// all of its own.
class SimulatedExchange : public Exchange {
 public:
  SimulatedExchange(std::size_t samples, double first, std::size_t staleness);
  std::uint64_t pull(std::size_t worker, std::vector<double>& u) override;
  std::uint64_t push(std::size_t worker, const std::vector<double>& change) override;
  template <class State>
  bool visit_state(State& state);

 private:
  std::size_t staleness_;
  std::vector<double> u_;                    // everything pushed
  std::vector<std::vector<double>> recent_;  // ring of the last pushes
  std::vector<std::uint64_t> senders_;
  std::uint64_t pushes_ = 0;
};

// Contributions side by side in memory; each is written by one thread, all are read by all.
class SharedExchange : public Exchange {
 public:
  SharedExchange(std::size_t samples, double first, std::size_t workers);
  std::uint64_t pull(std::size_t worker, std::vector<double>& u) override;
  std::uint64_t push(std::size_t worker, const std::vector<double>& change) override;

  std::vector<std::vector<double>>& contributions() { return contributions_; }

 private:
  double first_;
  std::vector<std::vector<double>> contributions_;
  std::atomic<std::uint64_t> pushes_{0};
};

struct AsynchronousOptions {
  std::size_t k = 1;            // s
  std::size_t workers = 2;      // q
  bool threads = false;         // native threads instead of the simulation
  double step = 0;              // eta; 0: estimated
  double retained_divisor = 0;  // m; 0: sqrt(q)
  std::uint64_t seed = 0;
};

// Algorithm 3: one worker.
class SubstitutionWorker {
 public:
  SubstitutionWorker(const ColumnProblem& problem, const AsynchronousOptions& options, std::size_t share,
                     std::size_t id);

  Arrival arrive(Feature& feature, std::uint64_t scan, Exchange& exchange, TurnedAway& turned_away);
  FeatureReader& reader() { return reader_; }
  const SubstitutionSet& set() const { return set_; }
  double intercept() const { return intercept_; }
  struct Counts {
    std::uint64_t seen = 0, entered = 0, collisions = 0, staleness = 0, stalest = 0;
  };
  const Counts& counts() const { return counts_; }
  template <class State>
  bool visit_state(State& state);

 private:
  double move_retained(double length, double sum);
  bool turn_away(TurnedAway& turned_away, double& offset);

  const ColumnProblem& problem_;
  const AsynchronousOptions& options_;
  std::size_t share_;
  std::size_t id_;
  SubstitutionSet set_;
  FeatureReader reader_;
  std::vector<double> u_, slope_, change_;
  double intercept_ = 0;
  double curvature_;
  Counts counts_;
};

class AsynchronousSubstitution {
 public:
  AsynchronousSubstitution(const ColumnProblem& problem, const AsynchronousOptions& options);

  // What is wrong with the first row that cannot be taken, or kNoFault.
  struct Fault {
    std::size_t row;
    bool repeated;
    Key sample;
  };
  static constexpr std::size_t kNoFault = ~std::size_t{0};
  Fault update(const Batch& batch);
  void end_scan() { ++scan_; }

  std::span<const std::unique_ptr<SubstitutionWorker>> workers() const { return workers_; }
  double intercept() const;
  double objective() const;
  // Columns, names and present weights of all workers side by side, then those that fill their free
  // places; the latter have no weight before they are refitted.
  FeatureColumns gathered(std::vector<std::string>& names, RefittedModel& model) const;
  template <class State>
  bool visit_state(State& state);

 private:
  std::size_t worker_of(Key key) const;
  std::size_t retained() const;
  Fault take(const Batch& batch, std::size_t row, std::size_t worker);
  Fault update_in_threads(const Batch& batch);

  const ColumnProblem& problem_;
  AsynchronousOptions options_;
  std::vector<std::unique_ptr<SubstitutionWorker>> workers_;
  SimulatedExchange simulated_;
  SharedExchange shared_;
  Exchange& exchange_;
  TurnedAway turned_away_;
  std::uint64_t scan_ = 0;
};

template <class State>
bool SimulatedExchange::visit_state(State& state) {
  std::vector<std::uint64_t> numbers{pushes_};
  state.fixed("pushes", numbers);
  pushes_ = numbers[0];
  state.fixed("predictions", u_);
  state.fixed("senders", senders_);
  for (std::size_t i = 0; i < recent_.size(); ++i) state.fixed("push_" + std::to_string(i), recent_[i]);
  return true;
}

template <class State>
bool SubstitutionWorker::visit_state(State& state) {
  std::vector<double> numbers{intercept_, curvature_};
  state.fixed("numbers", numbers);
  intercept_ = numbers[0];
  curvature_ = numbers[1];
  std::vector<std::uint64_t> counts{counts_.seen, counts_.entered, counts_.collisions, counts_.staleness,
                                    counts_.stalest};
  state.fixed("counts", counts);
  counts_ = {counts[0], counts[1], counts[2], counts[3], counts[4]};
  return set_.visit_state(state);
}

template <class State>
bool AsynchronousSubstitution::visit_state(State& state) {
  std::vector<std::uint64_t> scan{scan_};
  state.fixed("scan", scan);
  scan_ = scan[0];
  bool fits = simulated_.visit_state(state);
  for (std::size_t t = 0; t < workers_.size(); ++t) {
    if (options_.threads) state.fixed("contribution_" + std::to_string(t), shared_.contributions()[t]);
    state.enter("worker_" + std::to_string(t) + "_");
    fits = workers_[t]->visit_state(state) && fits;
    state.enter("");
  }
  const std::size_t held = retained();
  if (!fits || held > options_.k) return false;
  state.enter("turned_away_");
  fits = turned_away_.visit_state(state, options_.k - held);
  state.enter("");
  return fits;
}

}  // namespace fsstream

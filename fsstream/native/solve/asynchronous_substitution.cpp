#include "solve/asynchronous_substitution.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "hash/identity.hpp"
#include "hash/mix.hpp"

namespace fsstream {

SimulatedExchange::SimulatedExchange(std::size_t samples, double first, std::size_t staleness)
    : staleness_(staleness),
      u_(samples, first),
      recent_(staleness, std::vector<double>(samples)),
      senders_(staleness) {}

std::uint64_t SimulatedExchange::pull(std::size_t worker, std::vector<double>& u) {
  u = u_;
  const std::size_t held = std::min<std::uint64_t>(pushes_, staleness_);
  for (std::size_t i = 0; i < held; ++i)
    if (senders_[i] != worker) add_scaled(-1.0, recent_[i].data(), u.data(), u.size());
  return pushes_;
}

std::uint64_t SimulatedExchange::push(std::size_t worker, const std::vector<double>& change) {
  add_scaled(1.0, change.data(), u_.data(), u_.size());
  if (staleness_ > 0) {
    recent_[pushes_ % staleness_] = change;
    senders_[pushes_ % staleness_] = worker;
  }
  return pushes_++;
}

SharedExchange::SharedExchange(std::size_t samples, double first, std::size_t workers)
    : first_(first), contributions_(workers, std::vector<double>(samples)) {}

std::uint64_t SharedExchange::pull(std::size_t, std::vector<double>& u) {
  const std::uint64_t before = pushes_.load(std::memory_order_relaxed);
  std::fill(u.begin(), u.end(), first_);
  for (std::vector<double>& contribution : contributions_)
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] += std::atomic_ref<double>(contribution[i]).load(std::memory_order_relaxed);
  return before;
}

std::uint64_t SharedExchange::push(std::size_t worker, const std::vector<double>& change) {
  std::vector<double>& own = contributions_[worker];
  for (std::size_t i = 0; i < own.size(); ++i)
    std::atomic_ref<double>(own[i]).store(own[i] + change[i], std::memory_order_relaxed);
  return pushes_.fetch_add(1, std::memory_order_relaxed);
}

SubstitutionWorker::SubstitutionWorker(const ColumnProblem& problem, const AsynchronousOptions& options,
                                       std::size_t share, std::size_t id)
    : problem_(problem),
      options_(options),
      share_(share),
      id_(id),
      set_(problem, share + 1),
      reader_(problem.samples()),
      u_(problem.samples()),
      slope_(problem.samples()),
      change_(problem.samples()),
      curvature_(problem.loss.largest_curvature() + problem.options.ridge) {}

Arrival SubstitutionWorker::arrive(Feature& feature, std::uint64_t scan, Exchange& exchange, TurnedAway& turned_away) {
  ++counts_.seen;
  std::size_t slot = 0;
  Arrival outcome = Arrival::kRejected;
  if (set_.find(feature, scan, slot, outcome)) {
    if (outcome == Arrival::kCollided) ++counts_.collisions;
    return outcome;
  }
  const std::uint64_t pulled = exchange.pull(id_, u_);
  const double sum = problem_.slopes(u_, slope_);
  if (!std::isfinite(sum))
    throw Diverged("the predictions left the range of numbers\nuse fewer --workers, or a smaller --learning-rate");
  const double gradient = measured_product(feature, problem_, slope_, sum);
  if (feature.length == 0) return outcome;
  turned_away.give_back(feature.key);
  const double eta = options_.step > 0 ? options_.step : 0.5 / curvature_;
  const double length = eta / options_.retained_divisor;
  std::fill(change_.begin(), change_.end(), 0.0);
  double offset = move_retained(length, sum);
  set_.add(feature, reader_.scattered(feature), -eta * gradient, scan);
  set_.move(set_.size() - 1, -eta * gradient, change_.data(), offset);
  const bool entered = turn_away(turned_away, offset);
  // Every worker moves the intercept, so each takes its part of the step.
  const double shift = problem_.options.intercept ? -length * sum / static_cast<double>(options_.workers) : 0.0;
  intercept_ += shift;
  for (double& change : change_) change += shift - offset;
  const std::uint64_t others = exchange.push(id_, change_) - pulled;
  counts_.staleness += others;
  counts_.stalest = std::max(counts_.stalest, others);
  if (!entered) return Arrival::kRejected;
  ++counts_.entered;
  curvature_ = set_.follow_curvature(curvature_);
  return Arrival::kEntered;
}

// Steps of the retained weights, into the change of the predictions; what is to be taken from all of these.
double SubstitutionWorker::move_retained(double length, double sum) {
  double offset = 0;
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const double step = -length * set_.gradient(i, slope_, sum);
    set_.move(i, step, change_.data(), offset);
    set_.set_weight(i, set_.weight(i) + step);
  }
  return offset;
}

// The weakest goes where there is one too many; false when that is the arrival.
bool SubstitutionWorker::turn_away(TurnedAway& turned_away, double& offset) {
  if (set_.size() <= share_) {
    turned_away.place_filled();
    return true;
  }
  const std::size_t leaver = set_.weakest();
  const bool entered = leaver != set_.size() - 1;
  set_.move(leaver, -set_.weight(leaver), change_.data(), offset);
  turned_away.take(set_, leaver);
  set_.remove(leaver);
  return entered;
}

AsynchronousSubstitution::AsynchronousSubstitution(const ColumnProblem& problem, const AsynchronousOptions& options)
    : problem_(problem),
      options_(options),
      simulated_(problem.samples(), problem.first_intercept(),
                 options.threads || options.workers < 2 ? 0 : options.workers),
      shared_(problem.samples(), problem.first_intercept(), options.threads ? options.workers : 0),
      exchange_(options.threads ? static_cast<Exchange&>(shared_) : simulated_),
      turned_away_(problem, options.k) {
  if (options_.retained_divisor == 0) options_.retained_divisor = std::sqrt(static_cast<double>(options.workers));
  const std::size_t q = options_.workers;
  for (std::size_t t = 0; t < q; ++t)
    workers_.push_back(
        std::make_unique<SubstitutionWorker>(problem, options_, options_.k / q + (t < options_.k % q ? 1 : 0), t));
}

std::size_t AsynchronousSubstitution::worker_of(Key key) const {
  return static_cast<std::size_t>(mix64(key ^ mix64(options_.seed + 1)) % options_.workers);
}

AsynchronousSubstitution::Fault AsynchronousSubstitution::take(const Batch& batch, std::size_t row,
                                                               std::size_t worker) {
  SubstitutionWorker& at = *workers_[worker];
  Feature feature;
  if (!at.reader().read(batch, row, feature)) return {row, false, at.reader().bad_sample()};
  feature.key = key_of_name(feature.name);
  const bool repeated = at.arrive(feature, scan_, exchange_, turned_away_) == Arrival::kRepeated;
  return {repeated ? row : kNoFault, repeated, 0};
}

AsynchronousSubstitution::Fault AsynchronousSubstitution::update(const Batch& batch) {
  if (options_.threads) return update_in_threads(batch);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const Fault fault = take(batch, row, worker_of(key_of_name(batch.view(batch.labels[row]))));
    if (fault.row != kNoFault) return fault;
  }
  return {kNoFault, false, 0};
}

// Each thread is a worker and takes the rows that are its own; the earliest fault is told.
AsynchronousSubstitution::Fault AsynchronousSubstitution::update_in_threads(const Batch& batch) {
  Fault first{kNoFault, false, 0};
  std::exception_ptr thrown;
  std::mutex guard;
  const auto work = [&](std::size_t worker) {
    try {
      for (std::size_t row = 0; row < batch.rows(); ++row) {
        if (worker_of(key_of_name(batch.view(batch.labels[row]))) != worker) continue;
        const Fault fault = take(batch, row, worker);
        if (fault.row == kNoFault) continue;
        const std::lock_guard<std::mutex> held(guard);
        if (fault.row < first.row) first = fault;
        return;
      }
    } catch (...) {
      const std::lock_guard<std::mutex> held(guard);
      thrown = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < workers_.size(); ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  if (thrown) std::rethrow_exception(thrown);
  return first;
}

double AsynchronousSubstitution::intercept() const {
  double sum = problem_.first_intercept();
  for (const auto& worker : workers_) sum += worker->intercept();
  return sum;
}

double AsynchronousSubstitution::objective() const {
  std::vector<double> u(problem_.samples(), intercept());
  double squares = 0;
  double offset = 0;
  for (const auto& worker : workers_) {
    const SubstitutionSet& set = worker->set();
    squares += set.weight_squares();
    for (std::size_t i = 0; i < set.size(); ++i) set.move(i, set.weight(i), u.data(), offset);
  }
  for (double& prediction : u) prediction -= offset;
  return problem_.loss.mean(u.data(), problem_.y.data(), u.size()) + 0.5 * problem_.options.ridge * squares;
}

std::size_t AsynchronousSubstitution::retained() const {
  std::size_t size = 0;
  for (const auto& worker : workers_) size += worker->set().size();
  return size;
}

FeatureColumns AsynchronousSubstitution::gathered(std::vector<std::string>& names, RefittedModel& model) const {
  const SubstitutionSet* more = turned_away_.set();
  const std::size_t size = retained() + (more == nullptr ? 0 : more->size());
  FeatureColumns all(problem_.samples(), size, problem_.options.intercept);
  model.intercept = intercept();
  for (const auto& worker : workers_) {
    const SubstitutionSet& set = worker->set();
    const std::vector<std::size_t> slots = set.heaviest(set.size());
    const RefittedModel part = set.current(slots, 0.0);
    model.intercept += part.intercept;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      all.copy(names.size(), set.columns(), slots[i]);
      names.push_back(set.name(slots[i]));
      model.weights.push_back(part.weights[i]);
    }
  }
  for (std::size_t i = 0; more != nullptr && i < more->size(); ++i) {
    all.copy(names.size(), more->columns(), i);
    names.push_back(more->name(i));
    model.weights.push_back(0.0);
  }
  return all;
}

}  // namespace fsstream

#include "learn/sgd.hpp"

#include <algorithm>
#include <cmath>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "learn/limits.hpp"
#include "learn/row_runs.hpp"

namespace fsstream {

namespace {

constexpr double kLog2 = 0.6931471805599453;

}  // namespace

Sgd::Sgd(Loss loss, const SgdOptions& options, std::unique_ptr<Weights> weights)
    : loss_(loss), options_(options), weights_(std::move(weights)) {}

template <class Visit>
void Sgd::for_each_row(const Batch& batch, Visit visit) {
  for (std::size_t row = 0; row < batch.rows();) {
    const auto [end, longest] = run_from(batch, row);
    const std::size_t first = batch.row_begin(row);
    weights_->hash(batch, first, batch.row_begin(end) - first, longest);
    for (; row < end; ++row) {
      const std::size_t begin = batch.row_begin(row);
      visit(row, Row{&batch, begin, batch.row_end(row) - begin, begin - first});
    }
  }
}

void Sgd::update(const Batch& batch, float* scores) {
  for_each_row(batch, [&](std::size_t r, const Row& row) {
    scores[r] = static_cast<float>(learn(row, batch.targets[r], batch.importance[r]));
  });
  progress_.add(loss_, batch, scores);
  if (weights_->bytes() > options_.memory)
    throw LimitExceeded("the names of the active features do not fit into --memory\nraise --memory or lower --k");
}

void Sgd::predict(const Batch& batch, float* scores) {
  for_each_row(
      batch, [&](std::size_t r, const Row& row) { scores[r] = static_cast<float>(intercept_ + weights_->score(row)); });
}

double Sgd::learn(const Row& row, double target, double importance) {
  const double score = intercept_ + weights_->score(row);
  watch(score, target);
  const double square = dot(row.values(), row.values(), row.size);
  const double typical = typical_square(row, square);
  const double coefficient = -step(importance, square, typical) * loss_.slope(score, target);
  const double keep = (1.0 - rate() * options_.l2) * options_.forget;
  if (keep < 1.0) weights_->shrink(keep);
  if (coefficient != 0.0) {
    weights_->add(row, coefficient);
    if (options_.intercept) intercept_ += coefficient * typical;
  }
  if (options_.gamma < 1.0) weights_->attenuate(gamma());
  weights_->end_row();
  ++rows_;
  return score;
}

// The rate of a row times its importance, bounded where that is wanted.
double Sgd::step(double importance, double square, double typical) const {
  const double wanted = rate() * importance;
  if (!options_.bounded || loss_.bounded_slope()) return wanted;
  const double reach = square + (options_.intercept ? typical : 0.0);
  return wanted * reach > 0.25 ? 0.25 / reach : wanted;
}

double Sgd::gamma() const {
  constexpr double kLeast = 0.5;
  if (options_.gamma_doubling == 0.0) return options_.gamma;
  const double doublings = static_cast<double>(rows_) / options_.gamma_doubling;
  return std::max(kLeast, 1.0 - (1.0 - options_.gamma) * exp(std::min(doublings * kLog2, 700.0)));
}

// Mean square of the entries so far; 1 before there are any.
double Sgd::typical_square(const Row& row, double square) {
  squares_ += square;
  entries_ += static_cast<double>(row.size);
  return squares_ > 0.0 ? squares_ / entries_ : 1.0;
}

void Sgd::watch(double score, double target) {
  largest_target_ = std::max(largest_target_, std::fabs(target));
  if (std::fabs(score) <= largest_score(loss_, largest_target_)) return;  // false for NaN, too
  throw Diverged(
      "the steps are too large for these values: the weights diverged\nlower --learning-rate, or scale the rows "
      "(--normalize l2)",
      rows_ + 1);
}

void Sgd::save(StateWriter& out) const {
  const double numbers[] = {intercept_, progress_.sum(), progress_.weight(), largest_target_, squares_, entries_};
  out.put("sgd", std::span<const double>(numbers));
  out.put("rows", std::span<const std::uint64_t>(&rows_, 1));
  weights_->save(out);
}

void Sgd::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("sgd"), 6, "sgd");
  intercept_ = numbers[0];
  progress_.set(numbers[1], numbers[2]);
  largest_target_ = numbers[3];
  squares_ = numbers[4];
  entries_ = numbers[5];
  rows_ = of_size(in.words("rows"), 1, "rows")[0];
  weights_->load(in);
}

}  // namespace fsstream

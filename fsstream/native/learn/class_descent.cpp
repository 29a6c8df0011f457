#include "learn/class_descent.hpp"

#include <algorithm>
#include <limits>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

constexpr std::uint64_t kBetweenChecks = 8;  // rows

}  // namespace

ClassDescent::ClassDescent(const SgdOptions& options, MakeWeights make, std::size_t classes)
    : options_(options), make_(std::move(make)) {
  meet_classes(classes);
}

void ClassDescent::meet_classes(std::size_t classes) {
  while (weights_.size() < classes) weights_.push_back(make_());
  intercepts_.resize(weights_.size());
  chances_.resize(weights_.size());
}

std::size_t ClassDescent::classes_with(const Batch& batch) const {
  std::size_t met = classes();
  for (const float target : batch.targets) met = std::max(met, static_cast<std::size_t>(target) + 1);
  return met;
}

std::size_t ClassDescent::bytes() const {
  std::size_t sum = 0;
  for (const auto& weights : weights_) sum += weights->bytes();
  return sum;
}

void ClassDescent::update(const Batch& batch, float* scores) {
  const std::size_t outputs = classes_with(batch);
  std::fill_n(scores, batch.rows() * outputs, -std::numeric_limits<float>::infinity());
  for (std::size_t r = 0; r < batch.rows(); ++r) {
    const std::size_t begin = batch.row_begin(r);
    const auto y = static_cast<std::size_t>(batch.targets[r]);
    const bool is_new = y >= classes();
    meet_classes(y + 1);  // address space: a table that is too much has not been touched
    if (is_new || rows_ % kBetweenChecks == 0) check_memory();  // all classes' tables grow at once
    learn({&batch, begin, batch.row_end(r) - begin, 0}, y, batch.importance[r], scores + r * outputs);
  }
  check_memory();
}

void ClassDescent::check_memory() const {
  if (bytes() > options_.memory)
    throw LimitExceeded(
        "the weights of " + std::to_string(classes()) +
        " classes do not fit into --memory\nraise --memory, lower --k, or bound the classes with --max-classes");
}

void ClassDescent::learn(const Row& row, std::size_t y, double h, float* scores) {
  for (std::size_t c = 0; c < classes(); ++c) {
    weights_[c]->hash(*row.batch, row.first, row.size, row.size);
    chances_[c] = intercepts_[c] + weights_[c]->score(row);
    scores[c] = static_cast<float>(chances_[c]);
    check_score(chances_[c], kOutOfRange, rows_ + 1);
  }
  ++rows_;
  squares_ += dot(row.values(), row.values(), row.size);
  entries_ += static_cast<double>(row.size);
  const double typical = squares_ > 0.0 ? squares_ / entries_ : 1.0;
  const double own = chances_[y];
  const double top = *std::max_element(chances_.begin(), chances_.end());
  double sum = 0.0;
  for (double& chance : chances_) sum += chance = fsstream::exp(chance - top);
  progress_.add(fsstream::log(sum) + top - own, h);
  for (std::size_t c = 0; c < classes(); ++c) {
    const double coefficient = options_.learning_rate * h * ((c == y ? 1.0 : 0.0) - chances_[c] / sum);
    if (options_.l2 > 0.0) weights_[c]->shrink(1.0 - options_.learning_rate * options_.l2);
    if (coefficient != 0.0) {
      weights_[c]->add(row, coefficient);
      if (options_.intercept) intercepts_[c] += coefficient * typical;
    }
    weights_[c]->end_row();
  }
}

void ClassDescent::end_pass() {
  for (const auto& weights : weights_) weights->end_pass();
}

void ClassDescent::save(StateWriter& out) const {
  const double numbers[] = {progress_.sum(), progress_.weight(), squares_, entries_};
  out.put("descent", std::span<const double>(numbers));
  out.put("intercepts", std::span<const double>(intercepts_));
  out.put("rows", std::span<const std::uint64_t>(&rows_, 1));
  for (std::size_t c = 0; c < classes(); ++c) {
    PartWriter part(out, c);
    weights_[c]->save(part);
  }
}

void ClassDescent::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("descent"), 4, "descent");
  const auto intercepts = in.doubles("intercepts");
  meet_classes(intercepts.size());
  for (std::size_t c = 0; c < classes(); ++c) weights_[c]->load(PartReader(in, c));
  std::copy(intercepts.begin(), intercepts.end(), intercepts_.begin());
  progress_.set(numbers[0], numbers[1]);
  squares_ = numbers[2];
  entries_ = numbers[3];
  rows_ = of_size(in.words("rows"), 1, "rows")[0];
}

}  // namespace fsstream

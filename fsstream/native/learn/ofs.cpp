#include "learn/ofs.hpp"

#include <algorithm>
#include <cmath>

#include "learn/limits.hpp"

namespace fsstream {

namespace {

// Rows between exact sums of |v|^2, so that its rounding errors do not pile up.
constexpr std::uint64_t kRefresh = 4096;

}  // namespace

Ofs::Ofs(Loss loss, const BudgetedOptions& options)
    : OnlineLearner(options.memory), loss_(loss), options_(options), rate_(options.eta), seats_(options.budget) {}

void Ofs::reserve(const Batch& batch, std::size_t entries) {
  check_memory(batch, seats_.bytes_for(batch, entries), memory(), seats_.size(), Store::kTableOnly);
  seats_.reserve(batch, entries);
}

double Ofs::predict(const Batch& batch, std::size_t row) {
  return seats_.scale() * seats_.look_up(batch, batch.row_begin(row), batch.row_end(row)) + bias_;
}

void Ofs::shrink() {
  seats_.shrink(1.0 - options_.lambda * rate_.eta());
  if (std::abs(seats_.scale()) < SeatedWeights::kSmallestScale) fold_scale();
}

// The scale goes into the weights; also the time to sum |v|^2 anew.
void Ofs::fold_scale() {
  seats_.fold_scale();
  square_ = 0.0;
  for (Slot seat = 0; seat < seats_.size(); ++seat) square_ += seats_.weight(seat) * seats_.weight(seat);
}

// Into the ball of radius 1 / sqrt(lambda).
void Ofs::project() {
  if (options_.lambda == 0.0) return;
  const double norm = std::abs(seats_.scale()) * std::sqrt(square_);
  const double radius = 1.0 / std::sqrt(options_.lambda);
  if (norm > radius) seats_.shrink(radius / norm);
}

// square_ has counted v already.
void Ofs::offer(const Batch& batch, std::size_t j, double v) {
  const double weakest = seats_.full() ? seats_.weight(seats_.weakest()) : 0.0;
  const bool seated = seats_.offer(batch, j, batch.keys[j], v) != kNobody;
  const double leaving = seated ? weakest : v;
  square_ -= leaving * leaving;
}

void Ofs::descend(const Batch& batch, double slope) {
  const double step = -rate_.eta() * slope / seats_.scale();
  for (const auto& member : seats_.members()) {
    const double before = seats_.weight(member.seat);
    const double after = seats_.move(batch, member, step);
    square_ += after * after - before * before;
  }
  for (const std::size_t j : seats_.others()) {
    const double v = step * static_cast<double>(batch.values[j]);
    square_ += v * v;
  }
  project();
  for (const std::size_t j : seats_.others()) {
    const double v = step * static_cast<double>(batch.values[j]);
    if (v != 0.0) offer(batch, j, v);
  }
  if (options_.intercept) bias_ -= rate_.eta() * slope;
}

// A sub-gradient; at the hinge's corner the one that still learns: y w.x <= 1.
double Ofs::slope_at(double u, double y) const {
  return loss_.kind() == Loss::Kind::kHinge && y * u == 1.0 ? -y : loss_.slope(u, y);
}

void Ofs::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    const double u = predict(batch, row);
    scores[row] = static_cast<float>(u);
    const double slope = slope_at(u, batch.targets[row]) * static_cast<double>(batch.importance[row]);
    check_range(batch, row, slope);
    rate_.meet(batch, row);
    if (++steps_ % kRefresh == 0) fold_scale();
    shrink();
    if (slope != 0.0) descend(batch, slope);
  }
}

void Ofs::save(StateWriter& out) const {
  const std::vector<double> numbers{bias_, seats_.scale(), square_, rate_.logs(), static_cast<double>(rate_.rows())};
  out.put("steps", std::span<const std::uint64_t>(&steps_, 1));
  out.put("numbers", std::span<const double>(numbers));
  seats_.save(out);
}

void Ofs::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("numbers"), 5, "numbers");
  check_state(numbers[1] != 0.0 && in_range(numbers) && not_negative(numbers.subspan(3)));
  steps_ = of_size(in.words("steps"), 1, "steps")[0];
  bias_ = numbers[0];
  seats_.set_scale(numbers[1]);
  square_ = numbers[2];
  rate_.restore(numbers[3], numbers[4]);
  seats_.load(in);
}

}  // namespace fsstream

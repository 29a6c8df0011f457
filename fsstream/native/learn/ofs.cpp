#include "learn/ofs.hpp"

#include <algorithm>
#include <cmath>

#include "learn/limits.hpp"

namespace fsstream {

namespace {

// Rows between exact sums of |v|^2, so that its rounding errors do not pile up.
constexpr std::uint64_t kRefresh = 4096;
constexpr double kSmallestScale = 1e-60;

}  // namespace

Ofs::Ofs(Loss loss, const BudgetedOptions& options)
    : loss_(loss), options_(options), rate_(options.eta), set_(options.budget) {}

void Ofs::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t seats = std::min(set_.size() + entries, options_.budget);
  check_memory(bytes_with(seats) + names_.bytes_of(batch, seats - set_.size()), options_.memory, set_.size());
  table_.reserve(seats);
  set_.reserve(entries);
  names_.reserve(batch, set_.size(), seats);
}

double Ofs::predict(const Batch& batch, std::size_t row) {
  double u = 0.0;
  members_.clear();
  others_.clear();
  for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
    const Slot slot = table_.find(batch.keys[j]);
    (slot == kNobody ? others_ : members_).push_back({j, slot});
    if (slot != kNobody) u += set_.weight(slot) * static_cast<double>(batch.values[j]);
  }
  return scale_ * u + bias_;
}

void Ofs::shrink() {
  scale_ *= 1.0 - options_.lambda * rate_.eta();
  if (std::abs(scale_) < kSmallestScale) fold_scale();
}

// The scale goes into the weights; also the time to sum |v|^2 anew.
void Ofs::fold_scale() {
  square_ = 0.0;
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    const double v = set_.weight(seat) * scale_;
    set_.weight(seat) = v;
    set_.score(seat) = std::abs(v);
    square_ += v * v;
  }
  scale_ = 1.0;
  set_.rebuild();
}

// Into the ball of radius 1 / sqrt(lambda).
void Ofs::project() {
  if (options_.lambda == 0.0) return;
  const double norm = std::abs(scale_) * std::sqrt(square_);
  const double radius = 1.0 / std::sqrt(options_.lambda);
  if (norm > radius) scale_ *= radius / norm;
}

void Ofs::offer(const Batch& batch, std::size_t j, double v) {
  const Key key = batch.keys[j];
  if (!set_.admits(key, std::abs(v))) {
    square_ -= v * v;
    return;
  }
  if (set_.full()) {
    const Slot leaving = set_.weakest();
    square_ -= set_.weight(leaving) * set_.weight(leaving);
    table_.replace(leaving, {key});
  } else {
    table_.add({key});
  }
  names_.keep(set_.enter(key, v, std::abs(v)), batch, j);
}

void Ofs::descend(const Batch& batch, double slope) {
  const double step = -rate_.eta() * slope / scale_;
  for (const auto& [j, seat] : members_) {
    names_.check(seat, batch, j);
    const double before = set_.weight(seat);
    const double after = before + step * static_cast<double>(batch.values[j]);
    square_ += after * after - before * before;
    set_.weight(seat) = after;
    set_.score(seat) = std::abs(after);
    set_.touch(seat);
  }
  for (const auto& [j, none] : others_) {
    const double v = step * static_cast<double>(batch.values[j]);
    square_ += v * v;
  }
  project();
  for (const auto& [j, none] : others_) {
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

std::vector<Chosen> Ofs::chosen() const {
  std::vector<Chosen> out;
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    const auto w = static_cast<float>(set_.weight(seat) * scale_);
    if (w != 0.0F) out.push_back({set_.key(seat), w, names_.spell(seat, set_.key(seat))});
  }
  return out;
}

void Ofs::save(StateWriter& out) const {
  const std::vector<double> numbers{bias_, scale_, square_, rate_.logs(), static_cast<double>(rate_.rows())};
  out.put("steps", std::span<const std::uint64_t>(&steps_, 1));
  out.put("numbers", std::span<const double>(numbers));
  out.put("keys", set_.keys());
  out.put("weights", set_.weights());
  names_.save(out, set_.size());
}

void Ofs::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto weights = of_size(in.doubles("weights"), keys.size(), "weights");
  const auto numbers = of_size(in.doubles("numbers"), 5, "numbers");
  check_state(keys.size() <= options_.budget && numbers[1] != 0.0 && in_range(weights) && in_range(numbers) &&
              not_negative(numbers.subspan(3)));
  steps_ = of_size(in.words("steps"), 1, "steps")[0];
  bias_ = numbers[0];
  scale_ = numbers[1];
  square_ = numbers[2];
  rate_.restore(numbers[3], numbers[4]);
  table_.reserve(keys.size());
  set_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table_.add({keys[i]});
    set_.enter(keys[i], weights[i], std::abs(weights[i]));
  }
  names_.load(in, keys.size());
}

}  // namespace fsstream

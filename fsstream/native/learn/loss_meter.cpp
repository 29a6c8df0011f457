#include "learn/loss_meter.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"

namespace fsstream {

namespace {

double softmax_loss(double target, const float* scores, std::size_t outputs) {
  const double top = *std::max_element(scores, scores + outputs);
  double sum = 0;
  for (std::size_t c = 0; c < outputs; ++c) sum += exp(scores[c] - top);
  // A class that was not known yet had no score: it is charged as a new, zero one.
  const auto truth = static_cast<std::size_t>(target);
  const double own = truth < outputs ? scores[truth] : 0.0;
  if (truth >= outputs) sum += exp(own - top);
  return log(sum) + top - own;
}

}  // namespace

LossMeter::LossMeter(const std::string& loss, bool classes) : classes_(classes) {
  if (loss != "softmax") loss_.emplace(loss);
}

double LossMeter::row_loss(double target, const float* scores, std::size_t outputs, bool& correct) const {
  const auto best = static_cast<std::size_t>(std::max_element(scores, scores + outputs) - scores);
  correct = target == static_cast<double>(best);
  if (!loss_) return softmax_loss(target, scores, outputs);
  double sum = 0;
  for (std::size_t c = 0; c < outputs; ++c) sum += loss_->value(scores[c], target == static_cast<double>(c) ? 1 : -1);
  return sum;
}

void LossMeter::mark() {
  const double recent = weight_ - marked_weight_;
  curve_.push_back({rows_, mean(), recent > 0 ? (sum_ - marked_sum_) / recent : 0});
  marked_sum_ = sum_;
  marked_weight_ = weight_;
  next_mark_ *= 2;
}

void LossMeter::add(const Batch& batch, const float* scores, std::size_t outputs) {
  const bool single = loss_ && !classes_;
  if (single) {
    losses_.reserve(batch.rows());
    row_losses(*loss_, scores, batch.targets.data(), batch.rows(), losses_.data());
  }
  for (std::size_t row = 0; row < batch.rows(); ++row, scores += outputs) {
    ++rows_;
    const double target = batch.targets[row];
    if (!std::isnan(target) && outputs > 0) {
      bool correct = single && is_right(target, scores[0]);
      const double weight = batch.importance[row];
      sum_ += weight * (single ? losses_[row] : row_loss(target, scores, outputs, correct));
      weight_ += weight;
      correct_ += weight * static_cast<double>(correct);
    }
    if (rows_ == next_mark_) mark();
  }
}

// Of numbers none is. Without a branch: which one it is cannot be guessed.
bool LossMeter::is_right(double target, float score) const {
  const bool up = score > 0;
  return (loss_->kind() != Loss::Kind::kSquared) & ((up & (target > 0)) | (!up & (target < 0)));
}

void LossMeter::save(StateWriter& out) const {
  const double sums[] = {sum_, weight_, correct_, marked_sum_, marked_weight_};
  const std::uint64_t counts[] = {rows_, next_mark_};
  std::vector<std::uint64_t> at;
  std::vector<double> means;
  for (const Point& point : curve_) {
    at.push_back(point.rows);
    means.insert(means.end(), {point.mean, point.recent_mean});
  }
  out.put("sums", std::span<const double>(sums));
  out.put("counts", std::span<const std::uint64_t>(counts));
  out.put("curve_rows", std::span<const std::uint64_t>(at));
  out.put("curve_means", std::span<const double>(means));
}

void LossMeter::load(const StateReader& in) {
  const auto sums = of_size(in.doubles("sums"), 5, "sums");
  const auto counts = of_size(in.words("counts"), 2, "counts");
  const auto at = in.words("curve_rows");
  const auto means = of_size(in.doubles("curve_means"), 2 * at.size(), "curve_means");
  curve_.clear();
  for (std::size_t i = 0; i < at.size(); ++i) curve_.push_back({at[i], means[2 * i], means[2 * i + 1]});
  sum_ = sums[0];
  weight_ = sums[1];
  correct_ = sums[2];
  marked_sum_ = sums[3];
  marked_weight_ = sums[4];
  rows_ = counts[0];
  next_mark_ = counts[1];
}

}  // namespace fsstream

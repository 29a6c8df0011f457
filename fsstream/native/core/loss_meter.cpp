#include "core/loss_meter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fsstream {

namespace {

double margin_loss(LossMeter::Loss loss, double margin) {
  switch (loss) {
    case LossMeter::Loss::kLogistic:
      return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
    case LossMeter::Loss::kHinge:
      return std::max(0.0, 1 - margin);
    default: {
      const double gap = std::max(0.0, 1 - margin);
      return gap * gap;
    }
  }
}

double softmax_loss(double target, const float* scores, std::size_t outputs) {
  const double top = *std::max_element(scores, scores + outputs);
  double sum = 0;
  for (std::size_t c = 0; c < outputs; ++c) sum += std::exp(scores[c] - top);
  // A class that was not known yet had no score: it is charged as a new, zero one.
  const auto truth = static_cast<std::size_t>(target);
  const double own = truth < outputs ? scores[truth] : 0.0;
  if (truth >= outputs) sum += std::exp(own - top);
  return std::log(sum) + top - own;
}

}  // namespace

LossMeter::Loss LossMeter::named(std::string_view name) {
  if (name == "logistic") return Loss::kLogistic;
  if (name == "squared-hinge") return Loss::kSquaredHinge;
  if (name == "hinge") return Loss::kHinge;
  if (name == "squared") return Loss::kSquared;
  if (name == "softmax") return Loss::kSoftmax;
  throw std::invalid_argument("no such loss");
}

double LossMeter::row_loss(double target, const float* scores, std::size_t outputs, bool& correct) const {
  if (loss_ == Loss::kSquared) {
    correct = false;
    return (scores[0] - target) * (scores[0] - target);
  }
  if (outputs == 1 && loss_ != Loss::kSoftmax) {
    const double margin = target * scores[0];
    correct = scores[0] > 0 ? target > 0 : target < 0;
    return margin_loss(loss_, margin);
  }
  const auto best = static_cast<std::size_t>(std::max_element(scores, scores + outputs) - scores);
  correct = target == static_cast<double>(best);
  if (loss_ == Loss::kSoftmax) return softmax_loss(target, scores, outputs);
  double sum = 0;
  for (std::size_t c = 0; c < outputs; ++c)
    sum += margin_loss(loss_, target == static_cast<double>(c) ? scores[c] : -scores[c]);
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
  for (std::size_t row = 0; row < batch.rows(); ++row, scores += outputs) {
    ++rows_;
    const double target = batch.targets[row];
    if (!std::isnan(target) && outputs > 0) {
      bool correct;
      const double weight = batch.importance[row];
      sum_ += weight * row_loss(target, scores, outputs, correct);
      weight_ += weight;
      correct_ += correct ? weight : 0;
    }
    if (rows_ == next_mark_) mark();
  }
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

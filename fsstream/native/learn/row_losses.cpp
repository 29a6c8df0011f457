#include "learn/row_losses.hpp"

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

template <Loss::Kind kKind>
void losses_of(const float* __restrict scores, const float* __restrict targets, std::size_t count,
               double* __restrict losses) {
  const Loss loss(kKind);  // a constant: no row asks which
  for (std::size_t r = 0; r < count; ++r)
    losses[r] = loss.value(static_cast<double>(scores[r]), static_cast<double>(targets[r]));
}

using LossesOf = Compiled<&losses_of<Loss::Kind::kLogistic>>::Pointer;

LossesOf best(Loss::Kind kind) {
  switch (kind) {
    case Loss::Kind::kLogistic:
      return Compiled<&losses_of<Loss::Kind::kLogistic>>::best();
    case Loss::Kind::kHinge:
      return Compiled<&losses_of<Loss::Kind::kHinge>>::best();
    case Loss::Kind::kSquaredHinge:
      return Compiled<&losses_of<Loss::Kind::kSquaredHinge>>::best();
    default:
      return Compiled<&losses_of<Loss::Kind::kSquared>>::best();
  }
}

}  // namespace

void row_losses(const Loss& loss, const float* scores, const float* targets, std::size_t count, double* losses) {
  best(loss.kind())(scores, targets, count, losses);
}

void ProgressiveLoss::add(const Loss& loss, const Batch& batch, const float* scores) {
  const std::size_t rows = batch.rows();
  losses_.reserve(rows);
  row_losses(loss, scores, batch.targets.data(), rows, losses_.data());
  for (std::size_t r = 0; r < rows; ++r) add(losses_[r], batch.importance[r]);
}

}  // namespace fsstream

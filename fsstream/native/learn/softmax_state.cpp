// What a softmax learner writes down, and takes over again.
#include <algorithm>

#include "learn/softmax_learner.hpp"

namespace fsstream {

// Numbers are known by their places: fsstream/algorithms/merging/classes.py names them.
void SoftmaxLearner::save(StateWriter& out) const {
  const double numbers[] = {scale_,          intercept_evidence_, prior_.entries, squares_,      entries_seen_,
                            progress_.sum(), progress_.weight(),  fading_,        prior_.losses, prior_.plain_losses};
  const std::uint64_t counts[] = {rows_, prunes_, sketch_.width()};
  out.put("softmax", std::span<const double>(numbers));
  out.put("rows", std::span<const std::uint64_t>(counts));
  out.put("intercepts", std::span<const double>(intercepts_));
  out.put("thresholds", std::span<const float>(thresholds_.data(), classes_));
  out.put("sketch", sketch_.cells());
  out.put("evidence_cells", std::span<const float>(shared_));
  kept_.save(out);
  means_.save(out);
}

void SoftmaxLearner::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("softmax"), 10, "softmax");
  const auto counts = of_size(in.words("rows"), 3, "rows");
  const auto intercepts = in.doubles("intercepts");
  meet_classes(intercepts.size());
  while (sketch_.width() > counts[2] && sketch_.width() > 2) fold();
  const auto thresholds = of_size(in.floats("thresholds"), classes_, "thresholds");
  in.read("sketch", sketch_.cells());
  in.read("evidence_cells", shared_);
  std::copy(thresholds.begin(), thresholds.end(), thresholds_.begin());
  std::copy(intercepts.begin(), intercepts.end(), intercepts_.begin());
  const std::size_t left = options_.memory - std::min(options_.memory, sketch_.bytes());
  kept_.load(in, left, [this](Key key) { return sketch_.home(key); });
  means_.load(in);
  scale_ = numbers[0];
  intercept_evidence_ = numbers[1];
  prior_.entries = numbers[2];
  squares_ = numbers[3];
  entries_seen_ = numbers[4];
  progress_.set(numbers[5], numbers[6]);
  fading_ = numbers[7];
  prior_.losses = numbers[8];
  prior_.plain_losses = numbers[9];
  rows_ = counts[0];
  prunes_ = counts[1];
}

}  // namespace fsstream

#include "solve/candidate_collector.hpp"

#include <algorithm>
#include <cmath>

namespace fsstream {

CandidateCollector::CandidateCollector(const FeatureScores& scores, std::size_t candidates, std::size_t limit,
                                       std::span<const Key> without)
    : scores_(scores), candidates_(std::max<std::size_t>(candidates, 1)), columns_(scores.rows(), limit) {
  for (const Key key : without) without_.insert(key);
}

void CandidateCollector::add(const Batch& batch, std::size_t first_row) {
  std::string scratch;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const Key key = batch.keys[j];
      std::uint32_t place = place_.find(key);
      if (place == FeatureIndex::kNone) {
        const double estimate = std::abs(scores_.estimate(key));
        if (estimate <= threshold_ || without_.find(key) != FeatureIndex::kNone) continue;
        if (found_.size() == 2 * candidates_) prune();
        if (estimate <= threshold_) continue;
        place = place_.insert(key);
        found_.push_back({key, estimate, columns_.open(), std::string(batch.name(j, scratch))});
      }
      columns_.append(found_[place].column, static_cast<std::uint32_t>(first_row + row), batch.values[j]);
    }
  }
}

// Half of them go; what is not larger than the largest that went need not come again.
void CandidateCollector::prune() {
  const auto larger = [](const Candidate& a, const Candidate& b) {
    return a.estimate != b.estimate ? a.estimate > b.estimate : a.key < b.key;
  };
  const auto middle = found_.begin() + static_cast<std::ptrdiff_t>(candidates_);
  std::nth_element(found_.begin(), middle, found_.end(), larger);
  for (auto it = middle; it != found_.end(); ++it) {
    threshold_ = std::max(threshold_, it->estimate);
    columns_.drop(it->column);
  }
  found_.erase(middle, found_.end());
  place_ = FeatureIndex();
  for (const Candidate& candidate : found_) place_.insert(candidate.key);
}

void CandidateCollector::finish() {
  for (std::size_t place = 0; place < found_.size(); ++place) {
    columns_.seal(found_[place].column);
    const double score = columns_.dot(found_[place].column, scores_.residuals());
    if (score != 0.0) exact_.push_back({score, place});
  }
  std::sort(exact_.begin(), exact_.end(), [&](const Exact& a, const Exact& b) {
    const double x = std::abs(a.score);
    const double y = std::abs(b.score);
    return x != y ? x > y : found_[a.candidate].key < found_[b.candidate].key;
  });
}

std::vector<FeatureScores::Scored> CandidateCollector::ranked(std::size_t count) const {
  std::vector<FeatureScores::Scored> out;
  for (std::size_t place = 0; place < std::min(count, exact_.size()); ++place)
    out.push_back({found_[exact_[place].candidate].key, exact_[place].score});
  return out;
}

std::vector<CandidateCollector::Found> CandidateCollector::take(std::size_t count, ColumnCache& cache) {
  std::vector<Found> out;
  for (std::size_t place = 0; place < std::min(count, exact_.size()); ++place) {
    const Candidate& candidate = found_[exact_[place].candidate];
    out.push_back({candidate.key, exact_[place].score, candidate.name, cache.take(columns_, candidate.column)});
  }
  return out;
}

}  // namespace fsstream

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

std::vector<CandidateCollector::Found> CandidateCollector::best(std::size_t count, ColumnCache& cache) {
  struct Exact {
    double score;
    const Candidate* candidate;
  };
  std::vector<Exact> exact;
  for (const Candidate& candidate : found_) {
    columns_.seal(candidate.column);
    const double score = columns_.dot(candidate.column, scores_.residuals());
    if (score != 0.0) exact.push_back({score, &candidate});
  }
  std::sort(exact.begin(), exact.end(), [](const Exact& a, const Exact& b) {
    const double x = std::abs(a.score);
    const double y = std::abs(b.score);
    return x != y ? x > y : a.candidate->key < b.candidate->key;
  });
  exact.resize(std::min(count, exact.size()));
  std::vector<Found> out;
  for (const Exact& one : exact)
    out.push_back({one.candidate->key, one.score, one.candidate->name, cache.take(columns_, one.candidate->column)});
  return out;
}

}  // namespace fsstream

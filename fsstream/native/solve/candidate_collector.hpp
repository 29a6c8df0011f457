// CandidateCollector: worst case and collection in one scan, when c is only sketched.
//
// The sketch of c is complete before this scan, so the estimate of a feature is the same
// wherever it comes by: the `candidates` features with the largest |estimate| are found
// exactly, and since each is taken in at its first entry, its column is whole. Their exact c
// follows from the columns, and the best of them by exact |c| are handed over.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/feature_index.hpp"
#include "solve/column_cache.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

class CandidateCollector {
 public:
  struct Found {
    Key key;
    double score;
    std::string name;
    std::size_t column;  // in the cache it was handed over to
  };

  CandidateCollector(const FeatureScores& scores, std::size_t candidates, std::size_t limit,
                     std::span<const Key> without);

  void add(const Batch& batch, std::size_t first_row);
  // The scan is over: scores the candidates.
  void finish();
  // The `count` with the largest exact |c|.
  std::vector<FeatureScores::Scored> ranked(std::size_t count) const;
  // The same, their columns moved to the end of `cache`.
  std::vector<Found> take(std::size_t count, ColumnCache& cache);

 private:
  struct Candidate {
    Key key;
    double estimate;
    std::size_t column;
    std::string name;
  };
  struct Exact {
    double score;
    std::size_t candidate;
  };
  void prune();

  const FeatureScores& scores_;
  std::size_t candidates_;
  ColumnCache columns_;
  FeatureIndex without_, place_;
  std::vector<Candidate> found_;
  std::vector<Exact> exact_;  // once finished: largest |c| first
  double threshold_ = 0.0;
};

}  // namespace fsstream

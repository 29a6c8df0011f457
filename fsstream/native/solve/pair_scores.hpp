// PairScores: the worst case over products of two features, exact and without a table of pairs.
//
//   c_ij = sum over rows of r_n x_ni x_nj          (i = j: squares)
//   |c_ij| <= min(A_i, A_j),  A_i = sum over n of |r_n| |x_ni| max_k |x_nk|
//
// Rows with r > 0 and with r < 0 pull in opposite directions: A_i is taken over each apart, and
// the larger counts when no value is negative, else their sum. First scan: A of every feature.
// Second scan: exact sums over the pairs within a set S of the largest A. With tau the smallest
// |c| that is still wanted, the answer is exact when every feature with A >= tau is in S; if not,
// S becomes just those features and the second scan is repeated, once.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

class PairScores {
 public:
  struct Scored {
    Key a, b;  // a <= b
    double score;
  };

  // Scores are c times the factor of the map; at most `limit` bytes for the sums. All rows of the first scan must be
  // known.
  PairScores(const FeatureScores& scores, std::span<const double> r, double cross_factor, double square_factor,
             std::size_t limit);

  // First scan.
  void bound(const Batch& batch, std::size_t first_row);
  void bound_kept();
  // How many features have A >= tau.
  std::size_t features_above(double tau) const;

  // Second scan, over the `count` features with the largest A; ties: the smaller number.
  void start_sums(std::size_t count);
  void sum(const Batch& batch, std::size_t first_row);
  void sum_kept();
  std::size_t summed() const { return chosen_.size(); }

  // The `count` pairs of S with the largest |c|, those in `without` (a, b, a, b ...) left out.
  std::vector<Scored> best(std::size_t count, std::span<const Key> without) const;

 private:
  struct Member {
    std::uint32_t slot;
    double value;
  };
  double bound_of(std::size_t number) const;
  void sum_row(double r);

  const FeatureScores& scores_;
  std::vector<double> r_;
  double cross_factor_, square_factor_;
  std::size_t limit_;
  std::vector<double> up_, down_;       // A over rows with r > 0 and r < 0, by feature number
  std::vector<std::uint32_t> chosen_;   // feature number by slot
  std::vector<std::uint32_t> slot_of_;  // by feature number; kNone: not in S
  std::vector<double> sums_;            // slot i >= slot j at i (i + 1) / 2 + j
  std::vector<Member> row_;
};

// One scan that copies products of two features, times a factor, into the cache.
class PairCollector {
 public:
  PairCollector(ColumnCache& cache, std::span<const Key> pairs, double cross_factor, double square_factor);

  void add(const Batch& batch, std::size_t first_row);
  void add_kept(const FeatureScores& rows);
  void finish();
  const std::vector<std::uint32_t>& columns() const { return columns_; }

 private:
  struct Pair {
    std::uint32_t first, second;  // into wanted_
    double factor;
  };
  ColumnCache& cache_;
  FeatureIndex wanted_;
  std::vector<Key> keys_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> columns_;
};

}  // namespace fsstream

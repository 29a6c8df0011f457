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
//
// When the table of features does not fit, the first scan sums A in count-min sketches, which never say
// too little: still a bound, and the answer still exact. One more scan then lists the features with
// the largest bounds, as many as products of them could ever be summed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "sketch/count_min.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

class PairScores {
 public:
  struct Scored {
    Key a, b;  // a <= b
    double score;
  };

  // Scores are c times the factor of the map; at most `limit` bytes for the sums, and half of that for
  // sketched bounds. All rows of the first scan must be known.
  PairScores(const FeatureScores& scores, std::span<const double> r, double cross_factor, double square_factor,
             std::size_t limit);

  // First scan.
  void bound(const Batch& batch, std::size_t first_row);
  void bound_kept();
  // Only when bounds are sketched: the scan after it, which lists the features with the largest.
  void shortlist(const Batch& batch);
  // How many features have A >= tau; of those left out of the list only whether there are any.
  std::size_t features_above(double tau) const;

  // How many features there is room for below.
  std::size_t most_summed() const;
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
  std::uint32_t number_of(Key key) const { return sketched() ? listed_.find(key) : scores_.number_of(key); }
  Key key_of(std::uint32_t number) const { return sketched() ? listed_keys_[number] : scores_.keys()[number]; }
  bool sketched() const { return up_sketch_.has_value(); }
  // |c| of pairs with a feature, from its A over rows with r > 0 and with r < 0.
  double bound_from(double up, double down) const;
  double bound_of(std::size_t number) const { return bound_from(up_[number], down_[number]); }
  void shorten_list();
  void sum_row(double r);

  const FeatureScores& scores_;
  std::vector<double> r_;
  double cross_factor_, square_factor_;
  std::size_t limit_;
  std::optional<CountMin> up_sketch_, down_sketch_;
  FeatureIndex listed_;                 // features with numbers of their own, when bounds are sketched
  std::vector<Key> listed_keys_;        // by number
  double left_out_ = 0.0;               // the largest bound that is not on the list
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

// AdditiveScores: the worst case over what an additive kernel makes of each feature (Proposition 2).
//
//   |c_j|^2 = sum over f of (sum over rows of r_i phi_f(t_ij))^2      for every feature j
//
// With rows in memory each feature is summed by itself. Else its sums at the knots of the map wait
// in a table; as many features as fit `limit` bytes are summed in one scan, the next ones in
// another. Either way in row order, so both give the same bits.
#pragma once

#include <span>
#include <vector>

#include "core/additive_map.hpp"
#include "core/batch.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

class AdditiveScores {
 public:
  // The first scan of `scores` is over, its ranges are noted.
  AdditiveScores(const FeatureScores& scores, const AdditiveMap& map, std::span<const double> r, std::size_t limit);

  // One scan over some of the features, until `done`.
  void add(const Batch& batch, std::size_t first_row);
  void finish();
  bool done() const { return squares_.size() == scores_.features(); }
  // All of them, on rows in memory.
  void add_kept();

  // By feature, in the order of the keys of `scores`.
  std::span<const double> squares() const { return squares_; }

 private:
  double square_of(const double* knot_sums);
  void open_table();

  const FeatureScores& scores_;
  const AdditiveMap& map_;
  std::vector<double> r_;
  std::size_t together_;       // features a scan
  std::vector<double> table_;  // knot sums of the features from squares_.size() on
  std::vector<double> squares_;
  std::vector<double> features_;
};

}  // namespace fsstream

#include "solve/additive_scores.hpp"

#include <algorithm>

namespace fsstream {

AdditiveScores::AdditiveScores(const FeatureScores& scores, const AdditiveMap& map, std::span<const double> r,
                               std::size_t limit)
    : scores_(scores),
      map_(map),
      r_(r.begin(), r.end()),
      together_(std::max<std::size_t>(limit / (map.knots() * sizeof(double)), 1)),
      features_(map.features()) {
  if (!scores.rows_kept()) open_table();
}

void AdditiveScores::open_table() {
  const std::size_t left = scores_.features() - squares_.size();
  table_.assign(std::min(together_, left) * map_.knots(), 0.0);
}

double AdditiveScores::square_of(const double* knot_sums) {
  map_.features_of(knot_sums, features_.data());
  double square = 0.0;
  for (const double c : features_) square += c * c;
  return square;
}

void AdditiveScores::add(const Batch& batch, std::size_t first_row) {
  const std::size_t first = squares_.size();
  const std::size_t end = first + table_.size() / map_.knots();
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const double r = r_[first_row + row];
    if (r == 0.0) continue;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::size_t number = scores_.number_of(batch.keys[j]);
      if (number < first || number >= end || batch.values[j] == 0.0F) continue;
      map_.add(r, map_.place(batch.values[j], scores_.ranges()[number]),
               table_.data() + (number - first) * map_.knots());
    }
  }
}

void AdditiveScores::finish() {
  for (std::size_t at = 0; at < table_.size(); at += map_.knots()) squares_.push_back(square_of(table_.data() + at));
  open_table();
}

void AdditiveScores::add_kept() {
  std::vector<double> knots(map_.knots());
  for (std::size_t p = 0; p < scores_.features(); ++p) {
    std::fill(knots.begin(), knots.end(), 0.0);
    for (const KeptColumns::Entry& entry : scores_.column(p))
      if (entry.value != 0.0F && r_[entry.row] != 0.0)
        map_.add(r_[entry.row], map_.place(entry.value, scores_.ranges()[p]), knots.data());
    squares_.push_back(square_of(knots.data()));
  }
}

}  // namespace fsstream

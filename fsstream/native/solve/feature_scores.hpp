// FeatureScores: the worst-case analysis (Algorithm 2) over scans of the stream.
//
//   c = sum over rows of r_i x_i,  r_i = alpha_i y_i;   the B features with the largest |c_j|
//
// The first scan numbers the features, keeps target and importance of every row, and the
// rows themselves while they fit, so that later scans cost no parsing. It also sums y_i x_i
// and x_i, from which c of the first round follows for any loss, with and without a shift:
// with no feature chosen r_i = importance_i (slope y_i + offset).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "solve/feature_index.hpp"

namespace fsstream {

class FeatureScores {
 public:
  struct Scored {
    Key key;
    double score;
  };

  // At most so many bytes for the table of features and for rows kept; `shift` also sums x_i.
  FeatureScores(std::size_t table_bytes, std::size_t row_bytes, bool shift);

  void load(const Batch& batch);
  void finish_load(double slope, double offset);

  // A later scan: start, then every batch in order, or the kept rows at once.
  void start();
  void add(const Batch& batch, std::span<const double> r, std::size_t first_row);
  void add_kept(std::span<const double> r);

  // The `count` largest |c_j| among features not in `without`; ties: the smaller key.
  std::vector<Scored> best(std::size_t count, std::span<const Key> without) const;

  std::size_t rows() const { return targets_.size(); }
  std::size_t features() const { return index_.size(); }
  std::size_t entries() const { return entries_; }
  bool rows_kept() const { return rows_kept_; }
  double square_sum() const { return square_sum_; }
  bool negative_values() const { return negative_values_; }
  std::size_t bytes() const;
  const Buffer<float>& targets() const { return targets_; }
  const Buffer<float>& importance() const { return importance_; }
  std::span<const double> scores() const { return sums_; }
  std::span<const Key> keys() const { return keys_; }

  // visit(row, feature number, value) over the kept rows, in order.
  template <class Visit>
  void for_each_kept(Visit visit) const {
    for (std::size_t i = 0; i < rows(); ++i)
      for (std::uint64_t j = row_starts_[i]; j < row_starts_[i + 1]; ++j) visit(i, numbers_[j], values_[j]);
  }
  std::uint32_t number_of(Key key) const { return index_.find(key); }

 private:
  std::uint32_t number_for(Key key);
  void keep_row(const Batch& batch, std::size_t row);
  void forget_rows();

  std::size_t table_bytes_;
  std::size_t row_bytes_;
  bool shift_;
  FeatureIndex index_;
  std::vector<Key> keys_;      // by feature number
  std::vector<double> sums_;   // c, or sum y_i x_i while loading
  std::vector<double> plain_;  // sum x_i, only while loading with a shift
  Buffer<float> targets_, importance_;
  bool rows_kept_ = true;
  Buffer<std::uint64_t> row_starts_;
  Buffer<std::uint32_t> numbers_;
  Buffer<float> values_;
  std::size_t entries_ = 0;
  double square_sum_ = 0.0;
  bool negative_values_ = false;
};

}  // namespace fsstream

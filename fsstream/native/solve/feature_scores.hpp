// FeatureScores: the worst-case analysis (Algorithm 2) over scans of the stream.
//
//   c = sum over rows of r_i x_i,  r_i = alpha_i y_i;   the B features with the largest |c_j|
//
// The first scan numbers the features, keeps target and importance of every row, and the
// entries themselves while they fit: then no later scan is needed. When they do not fit, the
// scan sums y_i x_i and x_i instead, from which c of the first round follows for any loss, with
// and without a shift: with no feature chosen r_i = importance_i (slope y_i + offset).
// Either way a c_j is summed in row order, so both give the same bits.
//
// When not even the table of features fits, the sums go into count-sketches of the same size:
// `estimate` then tells which features may be among the largest, and the scan that collects
// them scores them exactly (candidate_collector.hpp). Features that were asked to stay exact
// keep their sums beside the sketches. Where namespaces are noted only the largest of them give
// way, each to a sketch that tells its |c|^2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/additive_map.hpp"
#include "core/batch.hpp"
#include "core/buffer.hpp"
#include "core/feature_index.hpp"
#include "core/thread_team.hpp"
#include "sketch/count_sketch.hpp"
#include "solve/kept_columns.hpp"
#include "solve/namespace_sketches.hpp"

namespace fsstream {

class FeatureScores {
 public:
  struct Scored {
    Key key;
    double score;
  };

  // At most so many bytes for the table of features and for the entries kept; `shift` also
  // sums x_i.
  FeatureScores(std::size_t table_bytes, std::size_t row_bytes, bool shift, std::uint64_t seed);

  // Rows in memory are scored by so many threads; the scores do not depend on it.
  void use_threads(std::size_t threads) { team_ = threads > 1 ? std::make_unique<ThreadTeam>(threads) : nullptr; }

  // Before the first row: remember what stands before ^ in each feature's name.
  void note_namespaces() { namespaces_noted_ = true; }
  // By feature, in the order of keys(): a number into namespace_names().
  const std::vector<std::uint32_t>& namespaces() const { return namespaces_; }
  const std::vector<std::string>& namespace_names() const { return namespace_names_; }
  // Those that gave way when the table was full: none of their features is in keys().
  const NamespaceSketches& large_namespaces() const { return large_; }

  // Before the first row: remember the least and the largest value of each feature, zeros left out.
  void note_ranges() { ranges_noted_ = true; }
  // By feature, in the order of keys(); 0 .. 0 where all are zero.
  std::span<const ValueRange> ranges() const { return ranges_; }

  // Before the first row: these keep an exact c when the table gives way to sketches, and are then all of keys().
  void keep_exact(std::span<const Key> keys) { exact_keys_.assign(keys.begin(), keys.end()); }
  // How many of these rows have had, since the first one.
  std::size_t exact_met() const;

  void load(const Batch& batch);
  // The first scan is over: c of the first round is known.
  void finish_load(double slope, double offset);

  // A later scan: start, then every batch in order. With kept rows, start is all.
  void start(std::span<const double> r);
  void add(const Batch& batch, std::size_t first_row);

  // The `count` largest |c_j| of this scan among features not in `without`; ties: the
  // smaller key.
  std::vector<Scored> best(std::size_t count, std::span<const Key> without) const;
  // c of every feature, in the order of keys().
  std::vector<double> all() const;

  std::size_t rows() const { return targets_.size(); }
  std::size_t features() const { return keys_.size(); }
  std::size_t entries() const { return entries_; }
  bool rows_kept() const { return rows_kept_; }
  bool sketched() const { return sketch_.has_value(); }
  // Whether every feature of the stream is in keys().
  bool whole() const { return !sketched() && !large_.any(); }
  // Only when sketched: c_j, give or take its collisions; 0 for what is exact anyway.
  double estimate(Key key) const {
    return index_.find(key) == FeatureIndex::kNone ? static_cast<double>(sketch_->query(key)) : 0.0;
  }
  std::span<const double> residuals() const { return r_; }
  double square_sum() const { return square_sum_; }
  bool negative_values() const { return negative_values_; }
  std::size_t bytes() const;
  const Buffer<float>& targets() const { return targets_; }
  const Buffer<float>& importance() const { return importance_; }
  std::span<const Key> keys() const { return keys_; }

  std::uint32_t number_of(Key key) const { return index_.find(key); }
  // max_k |x_ik| by row.
  const Buffer<float>& row_largest() const { return row_largest_; }
  // Kept columns, by feature number and by key.
  std::span<const KeptColumns::Entry> column(std::size_t number) const { return columns_.column(number); }
  std::span<const KeptColumns::Entry> column_of(Key key) const {
    const std::uint32_t number = index_.find(key);
    return number == FeatureIndex::kNone ? std::span<const KeptColumns::Entry>() : column(number);
  }
  // The name a key has by itself; empty when only a batch can tell.
  std::string derived_name(Key key) const;

 private:
  bool table_full(Key key) const;
  std::uint32_t number_for(Key key);
  std::size_t feature_bytes() const;
  // How many features a table of so many slots holds, and its bytes with what is known of each.
  static std::size_t features_of(std::size_t slots) { return slots / 10 * 7 + 7; }
  std::size_t table_size(std::size_t slots) const {
    return FeatureIndex::bytes_of(slots) + features_of(slots) * feature_bytes();
  }
  std::uint32_t namespace_of(const Batch& batch, std::size_t entry);
  void shed_namespaces();
  void sketch_large(const Batch& batch, std::size_t batch_row, std::size_t row);
  void number_row(const Batch& batch, std::size_t row);
  void note_range(std::uint32_t number, float value);
  void sketch_row(std::size_t row, std::span<const Key> keys, const float* values);
  void load_row(const Batch& batch, std::size_t row, bool repeats);
  std::size_t kept_rows_bytes(std::size_t more) const;
  void sum_row(std::size_t row, std::span<const std::uint32_t> numbers, const float* values);
  void forget_rows();
  void turn_to_sketch();
  void finish_sums(double slope, double offset);
  void finish_sketch(double slope, double offset);
  // c of columns begin .. end - 1, from rows in memory.
  void score_kept(std::size_t begin, std::size_t end, double* scores) const;

  std::size_t table_bytes_;
  std::size_t row_bytes_;
  bool shift_;
  FeatureIndex index_;
  std::vector<Key> keys_;      // by feature number
  std::vector<double> sums_;   // rows not kept: c, or sum y_i x_i while loading
  std::vector<double> plain_;  // rows not kept: sum x_i, only while loading with a shift
  Buffer<float> targets_, importance_, row_largest_;
  bool rows_kept_ = true;
  Buffer<std::uint64_t> row_starts_;     // into values_
  Buffer<std::uint64_t> number_starts_;  // into numbers_: a row with the keys of the last one shares its numbers
  Buffer<std::uint32_t> numbers_;        // rows not kept: of the last row
  Buffer<float> values_;
  KeptColumns columns_;
  std::uint64_t seed_;
  std::vector<Key> exact_keys_;
  std::vector<bool> exact_met_;  // when sketched: by feature number
  std::optional<CountSketch> sketch_, plain_sketch_;
  NamespaceSketches large_;
  // c = scale_ sum r x + plain_scale_ sum p x; the second term only in the first round.
  std::vector<double> r_, plain_r_;
  double scale_ = 1.0;
  double plain_scale_ = 0.0;
  std::size_t entries_ = 0;
  double square_sum_ = 0.0;
  bool negative_values_ = false;
  bool ranges_noted_ = false;
  std::vector<ValueRange> ranges_;
  bool namespaces_noted_ = false;
  std::vector<std::uint32_t> namespaces_;
  std::vector<std::string> namespace_names_;
  FeatureIndex namespace_index_;  // by hash of the name
  Naming naming_ = Naming::kText;
  int kmer_length_ = 0;
  std::string scratch_;
  std::unique_ptr<ThreadTeam> team_;
};

}  // namespace fsstream

// LossMeter: mean loss and accuracy of scores, row by row in input order.
//
// The sums run in double and in row order, so they do not depend on how rows fall into
// batches. A point of the curve is kept whenever the number of rows doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/state.hpp"
#include "learn/row_losses.hpp"

namespace fsstream {

class LossMeter {
 public:
  struct Point {
    std::uint64_t rows;
    double mean;         // over all rows so far
    double recent_mean;  // since the point before
  };

  // With `classes` and a two-class loss the outputs are one-versus-rest, be it one while one class is known.
  // Throws std::invalid_argument for a name that is no loss.
  explicit LossMeter(const std::string& loss, bool classes = false);

  // `scores` holds batch.rows() x outputs numbers; those of a class that a row came before are -infinity.
  void add(const Batch& batch, const float* scores, std::size_t outputs);

  std::uint64_t rows() const { return rows_; }
  double mean() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  double accuracy() const { return weight_ > 0 ? correct_ / weight_ : 0; }
  const std::vector<Point>& curve() const { return curve_; }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  bool is_right(double target, float score) const;
  // Of several outputs.
  double row_loss(double target, const float* scores, std::size_t outputs, bool& correct) const;
  void mark();

  std::optional<Loss> loss_;  // none: softmax
  bool classes_;
  std::uint64_t rows_ = 0;
  std::uint64_t next_mark_ = 1;
  double sum_ = 0;
  double weight_ = 0;
  double correct_ = 0;
  double marked_sum_ = 0;
  double marked_weight_ = 0;
  std::vector<Point> curve_;
  Buffer<double> losses_;  // of a batch
};

}  // namespace fsstream

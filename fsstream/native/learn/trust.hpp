// Trust: which weights are written smaller than they were learned, and which larger.
//
// Where many features compete, the last to be let in owe it to luck; and what is in few rows is held back by the
// prior. How much of it, the stream says:
//
//   d_i = min(1, T / claim_i)     both to the fourth power (learn/newton.hpp); T: what a claim must exceed
//   e_i = L / (C_i + L)           the prior's share in what is known of feature i
//   w_i (1 + p d_i + q e_i)       what is written, at least 1/64 of w_i and at most 8 w_i
//
// p and q are one Newton step from 0, with the slope and the offset of the score free beside them, on the rows as
// they were scored before they were learned:
//
//   z = (g s, g sum d_i w_i x_i, g sum e_i w_i x_i, 1)      of a row; sums over its active features
//   A, G = means of v z z' and -loss' z                     a row's weight is h t^2, as in learn/calibration.hpp
//   (A + 32 A_11 / N I) t = G,  p = t_2 / (1 + t_1),  q = t_3 / (1 + t_1)        N: the rows that the means are worth
//
// Nothing that is being learned is touched. The hinge loss says nothing at all: p = q = 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "learn/flow.hpp"
#include "learn/loss.hpp"

namespace fsstream {

class Trust {
 public:
  // What a score is made of, but for the intercept.
  struct Parts {
    double all;
    double doubtful;   // sum of d_i w_i x_i
    double held_back;  // sum of e_i w_i x_i
  };
  struct Shares {
    double doubtful = 0.0;   // p
    double held_back = 0.0;  // q

    // Of a weight, from its d and e.
    double of(double d, double e) const;
  };

  // d and e, of one feature as of many side by side (learn/row_steps.hpp).
  static double doubtful(double claim, double threshold) { return threshold < claim ? threshold / claim : 1.0; }
  template <class Real>
  static Real held_back(Real count, Real prior) {
    return prior / (count + prior);
  }

  explicit Trust(const Loss& loss) : known_(loss.kind() != Loss::Kind::kHinge) {}

  // Of many rows one in eight says enough.
  bool asks(std::uint64_t row) const { return known_ && (row <= kAllRows || row % 8 == 0); }
  // Score and loss of a row that was not learned before, its number from 1 on.
  void meet(const Parts& parts, const RowLoss& loss, double importance, std::uint64_t row);
  Shares shares() const;

  // All that is known, for saving and adding up.
  std::span<const double> numbers() const { return numbers_; }
  void restore(std::span<const double> numbers);

 private:
  static constexpr std::uint64_t kAllRows = 1 << 16;
  static constexpr std::size_t kParts = 4;
  static constexpr std::size_t kHead = 2;
  static constexpr std::size_t kRow = kParts + 1;  // of A, and of G behind it

  bool known_;
  // Sum of weights, sum of their squares; then the rows of (A, G), as sums.
  std::array<double, kHead + kParts * kRow> numbers_{};
};

}  // namespace fsstream

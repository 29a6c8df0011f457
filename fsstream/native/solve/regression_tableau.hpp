// Least squares on a changing subset of variables: the sweep operator.
//
// Given the Gram matrix G of up to K variables and their products b with the target, and a
// subset M of them (the model), the tableau T holds at all times
//
//   i, j in M          -H_ij                 H = inverse of G_MM
//   i in M, j outside  (H G)_ij              how j regresses on the model
//   i, j outside       G_ij - (G H G)_ij     what the model leaves of them
//   the target's row   w_i in M, c_j outside (product of j with the residual), and the
//                      residual sum of squares
//
// Moving one variable into or out of M is one sweep: O(K^2), a rank-one update. Rounding
// piles up over many of them, so the tableau is made again from G now and then.
// (Goodnight 1979, "A tutorial on the SWEEP operator".)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fsstream {

// A variable of which less than this share is left is a copy of the model's members. Products are
// taken with columns rounded to 16 bits, which leaves about a millionth of an exact copy.
constexpr double kCopy = 1e-5;

class RegressionTableau {
 public:
  // `target_squares` is the target's product with itself.
  RegressionTableau(std::size_t capacity, double target_squares);

  std::size_t size() const { return size_; }
  std::size_t model_size() const { return model_size_; }
  bool in_model(std::size_t i) const { return in_model_[i] != 0; }

  double weight(std::size_t i) const { return swept_[at(i, capacity_)]; }            // i in M
  double inverse(std::size_t i) const { return -swept_[at(i, i)]; }                  // i in M
  double residual_product(std::size_t i) const { return swept_[at(i, capacity_)]; }  // i outside
  double unexplained(std::size_t i) const { return swept_[at(i, i)]; }               // i outside
  double residual_squares() const { return swept_[at(capacity_, capacity_)]; }

  // How much the residual sum of squares would rise without i, or fall with it. A variable
  // that the model explains all but entirely scores 0.
  double score(std::size_t i) const;
  // What the model's other members leave unexplained of variable i.
  double tolerance(std::size_t i) const { return in_model(i) ? 1.0 / inverse(i) : unexplained(i); }

  // How much the residual sum of squares would fall if i, outside M, took the place of j in M.
  double exchange_gain(std::size_t i, std::size_t j) const;

  // What a new variable with products `a` (with every variable) and square `diagonal` would
  // leave unexplained by the model.
  double unexplained_of(std::span<const double> a, double diagonal);

  // A variable takes place i (the next free one, or that of a variable it replaces).
  void put(std::size_t i, std::span<const double> a, double diagonal, double target_product);
  void sweep_in(std::size_t i);
  void sweep_out(std::size_t i);

  // Lists the members for checkpoints; false when what was read is no tableau.
  template <class State>
  bool visit_state(State& state);

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * (capacity_ + 1) + j; }
  void sweep(std::size_t i);
  void add_new_row(std::size_t i);
  void rebuild();

  std::size_t capacity_;
  std::size_t size_ = 0;
  std::size_t model_size_ = 0;
  std::size_t sweeps_ = 0;            // since the tableau was last made from G
  std::vector<double> gram_, swept_;  // (K + 1)^2, the target last
  std::vector<std::uint8_t> in_model_;
  std::vector<double> row_;
};

template <class State>
bool RegressionTableau::visit_state(State& state) {
  std::vector<std::uint64_t> sizes{size_, sweeps_};
  state.fixed("tableau_sizes", sizes);
  state.fixed("gram", gram_);
  state.fixed("swept", swept_);
  state.fixed("in_model", in_model_);
  if (sizes[0] > capacity_) return false;
  size_ = sizes[0];
  sweeps_ = sizes[1];
  model_size_ = 0;
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (in_model_[i] > (i < size_ ? 1 : 0)) return false;
    model_size_ += in_model_[i];
  }
  return true;
}

}  // namespace fsstream

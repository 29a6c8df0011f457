// SoftmaxLearner: several classes at once, their weights side by side.
//
// Scores      u_c = b_c + sum over i active for c of w_ci x_i;   p = softmax(u)
// Loss        -log p_y
//
// Constant steps (MISSION's gradient): w_ci += rate h ([c = y] - p_c) x_i.
// Adaptive steps, as in learn/newton.hpp with one evidence a feature for all classes:
//             v = h max(max over c of p_c (1 - p_c), 1e-4)      the largest curvature bounds all
//             C_i += v,  P_i += v x_i^2,  r_i = 1 / (P_i (1 + L / C_i)),  L the prior evidence
//   The row's own loss is followed downhill (learn/flow.hpp): seen from y, the others are one class
//   of score log sum exp(u_c), c != y, that moves as its members do. With s_c their shares in it
//   and q_c = sum r_i x_i^2, the margin m = u_y - that score follows the logistic loss for
//             q = q_y + sum s_c^2 q_c
//   and T = flow(m, q) / q is spent on y: w_yi += T r_i x_i; w_ci -= T s_c r_i x_i for the others.
//   q_c counts what is active for c, and b_c, where active weights move; the whole row elsewhere.
// One evidence for all classes, and a step that normalises over classes, beat a Newton learner a
// class on text (.798 instead of .762 on 20 newsgroups) in a third of the memory.
//
// A feature is active for a class when its claim there is among the k largest: |w_ci| with
// constant steps, |w_ci| sqrt(P_i / C_i) (C_i + L)^(1/4) with adaptive ones. Candidates of a class
// go up to 2k, then the k best stay and the weakest of them is the claim to exceed.
//   exact       a feature that is active for some class keeps its weights beside the sketch
//   estimated   the paper's: all weights in the sketch, active where the estimate exceeds
// With k = 0 nothing is selected and every weight counts: feature hashing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/errors.hpp"
#include "core/state.hpp"
#include "learn/class_features.hpp"
#include "sketch/class_sketch.hpp"

namespace fsstream {

struct SoftmaxOptions {
  std::size_t k = 1;
  bool adaptive = true;
  bool exact = true;
  double learning_rate = 0.5;
  double l2 = 0.0;
  double forget = 1.0;  // weights (constant steps) or evidence (adaptive) fade by it, once a row
  bool intercept = true;
  int depth = 3;
  std::size_t width = std::size_t{1} << 16;
  std::size_t least_width = std::size_t{1} << 12;  // a late class may fold the sketch down to this
  std::uint64_t seed = 0;
  std::size_t memory = std::size_t{1} << 30;
};

class SoftmaxLearner {
 public:
  SoftmaxLearner(const SoftmaxOptions& options, std::size_t classes);

  // Those met so far, and after the rows of a batch.
  std::size_t classes() const { return classes_; }
  std::size_t classes_with(const Batch& batch) const;

  // Learns the rows in order; scores are rows x classes_with(batch), of each row before it was
  // learned; -infinity for a class that was not met by then.
  void update(const Batch& batch, float* scores);

  // Scores only, rows x classes met; nothing is learned.
  void predict(const Batch& batch, float* scores);

  void seed(Key key, const std::string& name, std::size_t c, float weight);
  struct Chosen {
    std::uint32_t c;
    float weight;
    std::string name;
  };
  // The k best of each class, class after class.
  std::vector<Chosen> top();

  const std::vector<double>& intercepts() const { return intercepts_; }
  void set_intercept(std::size_t c, double intercept) { intercepts_[c] = intercept; }
  std::uint64_t rows() const { return rows_; }
  std::size_t width() const { return sketch_.width(); }
  const ActiveSet& kept() const { return kept_.names(); }
  std::uint64_t prunes() const { return prunes_; }
  std::size_t bytes() const;
  std::pair<double, double> take_progress();

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  using Row = ClassFeatures::Row;
  struct Entry {
    Row row;
    std::uint32_t cell;
    float square;
    float rate;     // of its step: r_i, or 1
    float unit;     // of the weights in the sketch
    float stature;  // claim = |weight in the sketch's unit| * stature
    Evidence evidence;
  };

  void meet_classes(std::size_t classes);
  void make_lanes(std::size_t lanes);
  void fold();
  void learn(const Batch& batch, std::size_t row, std::size_t hashed, float* scores);
  void look_up(const Batch& batch, std::size_t first, std::size_t size, std::size_t hashed);
  void find_scores(const float* values);
  void find_shares(std::size_t y);
  double constant_steps(std::size_t y, double h, const float* values);
  double adaptive_steps(std::size_t y, double h);
  void spend(std::size_t y, double step, std::vector<float>& steps) const;
  void gather_evidence(double v);
  void find_rates();
  void move(const float* values, std::size_t hashed);
  void admit(const Batch& batch, std::size_t first, std::size_t hashed);
  void turn_on(Row row, const float* weights, float stature);
  void ask(Key key);
  void tell();
  float stored_weight(Row row, std::size_t c);
  float claim(Row row, float weight) const;
  float stature_of(const Evidence& evidence) const;
  void prune(std::size_t c);
  void make_room(std::size_t more);
  void hand_over(Row row);
  void shrink(double factor);
  void fade();
  LimitExceeded too_big() const;
  double prior() const { return rows_ == 0 ? 0.0 : Evidence::kPrior * spread_ / static_cast<double>(rows_); }

  SoftmaxOptions options_;
  std::size_t classes_ = 0;
  ClassSketch sketch_;
  ClassFeatures kept_;
  std::vector<Evidence> cells_;  // by cell of row 0 of the sketch
  std::vector<double> intercepts_;
  std::vector<float> thresholds_;        // by lane; infinite without a class
  std::vector<std::size_t> candidates_;  // by class
  double scale_ = 1.0;                   // true weight = scale * stored one, everywhere
  double fading_ = 1.0;                  // factors of rows since all was last multiplied
  double intercept_evidence_ = 0.0;
  double spread_ = 0.0;
  double squares_ = 0.0;
  double entries_seen_ = 0.0;
  double progressive_loss_ = 0.0;
  double progressive_weight_ = 0.0;
  std::uint64_t rows_ = 0;
  std::uint64_t prunes_ = 0;

  // Of one row.
  HashedKeys hashed_;
  HashedKeys asked_;
  std::vector<Entry> entries_;
  Buffer<std::uint32_t> sketched_;    // entries whose weights are in the sketch
  Buffer<std::uint32_t> beside_;      // entries whose weights are beside it
  Buffer<std::uint32_t> rows_found_;  // rows of the entries that are kept
  Buffer<float> estimates_;           // sketched x lanes
  Buffer<float> factors_;             // sketched
  std::vector<double> scores_;        // by lane
  std::vector<double> shares_;        // by lane: p_c among the classes other than y
  std::vector<double> pulls_;         // by lane: sum of r x^2 over what is active
  std::vector<float> active_step_;    // by lane
  std::vector<float> other_step_;
  std::vector<float> asked_step_;  // by lane, of one key
  std::vector<float> asked_estimates_;
};

}  // namespace fsstream

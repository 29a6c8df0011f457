// SoftmaxLearner: several classes at once, their weights side by side.
//
// Scores      u_c = b_c + sum over i active for c of w_ci x_i;   p = softmax(u)
// Loss        -log p_y
//
// Constant steps (MISSION's gradient): w_ci += rate h ([c = y] - p_c) x_i.
// Adaptive steps, as in learn/newton.hpp with one evidence a feature for all classes:
//             v = h max(max over c of p_c (1 - p_c), 1e-4)      the largest curvature bounds all
//             C_i += v,  P_i += v x_i^2,  E = C_i + L,  r_i = C_i / (P_i min(E, sqrt(50 E)))
//             L = 4 (n - 1) / n^2 of the prior evidence of learn/prior.hpp, n the classes met: as many rows count for
//             it whatever the curvature is where nothing is known, 1 / n (1 - 1 / n); the loss there is log n
//   The row's own loss is followed downhill (learn/flow.hpp): seen from y, the others are one class
//   of score log sum exp(u_c), c != y, that moves as its members do. With s_c their shares in it
//   and q_c = sum r_i x_i^2, the margin m = u_y - that score follows the logistic loss for
//             q = q_y + sum s_c^2 q_c
//   and T = flow(m, q) / q is spent on y: w_yi += T r_i x_i; w_ci -= T s_c r_i x_i for the others.
//   q_c counts what is active for c, and b_c, where active weights move; the whole row elsewhere.
// One evidence for all classes, and a step that normalises over classes, beat a Newton learner a
// class on text in a third of the memory.
//
// A feature is active for a class when its claim there is among the k largest: |w_ci| with
// constant steps, |w_ci| sqrt(P_i / C_i) (C_i + L)^(1/4) with adaptive ones. Candidates of a class
// go up to 2k, then the k best stay and the weakest of them is the claim to exceed.
//   exact       a feature that is active for some class keeps its weights, P and C beside the sketch
//   estimated   the paper's: all weights in the sketch, active where the estimate exceeds
// With k = 0 nothing is selected and every weight counts: feature hashing.
//
// Of a stream that is a table x is what a value is above the mean of its column, as in learn/newton.hpp, and what is
// not active has the deviation of its column as its unit (learn/column_means.hpp): adaptive steps, exact, with
// intercepts, which take up the means. Columns of positive numbers were one long common direction, and classes that
// any single one of them tells apart were not learned. A run that began with an earlier model reads values as they are.
//
// The sketch holds w sqrt(P / C), and C of what is not kept lies in cells that keys share; there P is C x^2 of
// the value at hand. A row needs the sketch only to add to it, so each cell is read once: changed, looked at for
// claims that exceed, written. A feature that enters takes its weights out of the sketch and one that leaves gives
// them back: a cell that has grown lets in the first that meets it, not all that share it, in the same row or later
// (one row of cells, training rows of dna15: .210 instead of .198 right, a seventh fewer that enter).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/errors.hpp"
#include "core/state.hpp"
#include "learn/class_features.hpp"
#include "learn/class_steps.hpp"
#include "learn/column_means.hpp"
#include "learn/learned_row.hpp"
#include "learn/prior.hpp"
#include "learn/row_losses.hpp"
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
    Key key;
    float weight;
    std::string name;
  };
  // The k best of each class, class after class.
  std::vector<Chosen> top();

  // Of values as they are.
  std::vector<double> intercepts();
  void set_intercept(std::size_t c, double intercept) { intercepts_[c] = intercept; }
  std::uint64_t rows() const { return rows_; }
  std::size_t width() const { return sketch_.width(); }
  const ActiveSet& kept() const { return kept_.names(); }
  std::uint64_t prunes() const { return prunes_; }
  std::size_t bytes() const;
  std::pair<double, double> take_progress() { return progress_.take(); }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  using Row = ClassFeatures::Row;

  void meet_classes(std::size_t classes);
  void make_lanes(std::size_t lanes);
  void fold();
  void learn_centred(const Batch& batch, std::size_t row, float* scores);
  void follow(const ColumnMeans::Change& change);
  void take_unit(const ColumnMeans::Beginning& beginning);
  std::vector<double> active_at_means() const;
  void learn(const Batch& batch, std::size_t row, const LearnedRow& entries, float* scores);
  void look_up(const Batch& batch, const LearnedRow& entries);
  LaneRows kept_rows();
  void find_scores(const float* values, std::size_t hashed);
  void find_shares(std::size_t y);
  double constant_steps(std::size_t y, double h, const float* values);
  double adaptive_steps(std::size_t y, double h, const float* values, std::size_t hashed);
  double curvature(std::size_t y) const;
  void gather_evidence(float v, const float* values, std::size_t hashed);
  double find_rates();
  void spend(std::size_t y, double step, std::vector<float>& steps) const;
  void use_units(const float* values);
  float square_of_unit(std::size_t entry, float value) const;
  void move(std::size_t hashed);
  void step_sketched(std::size_t hashed);
  void add_to_estimated(std::size_t hashed);
  void admit(const Batch& batch, const LearnedRow& entries);
  void find_kept_again(const Key* keys, const std::uint32_t* homes);
  bool still_claims(std::size_t i, float* weights, std::size_t hashed);
  void enter(Row row, const float* weights, std::size_t i, float square, std::size_t hashed);
  void turn_on(Row row, const float* weights, float size);
  void ask(Key key);
  void tell();
  float stored_weight(Row row, std::size_t c);
  float claim(Row row, float weight, float prior) const;
  void prune(std::size_t c);
  void make_room(std::size_t more);
  void hand_over(const std::vector<std::pair<Key, Row>>& idle);
  void shrink(double factor);
  void fade();
  LimitExceeded too_big() const;
  float prior() const;
  // Of the hashed run.
  const std::uint32_t* homes() const { return hashed_.column(static_cast<std::size_t>(sketch_.depth())); }
  SharedEvidence shared_by(std::size_t hashed) {
    return {shared_.data(), static_cast<std::uint32_t>(shared_.size() - 1), hashed_.column(0) + hashed};
  }
  float& shared_evidence(std::uint32_t place) {
    return shared_[place & static_cast<std::uint32_t>(shared_.size() - 1)];
  }

  SoftmaxOptions options_;
  std::size_t classes_ = 0;
  ClassSketch sketch_;
  ClassFeatures kept_;
  std::vector<float> shared_;  // C of what is not kept, by cell of row 0 of the sketch
  std::vector<double> intercepts_;
  std::vector<float> thresholds_;  // by lane; infinite without a class
  double scale_ = 1.0;             // true weight = scale * stored one, everywhere
  double fading_ = 1.0;            // factors of rows since all was last multiplied
  double intercept_evidence_ = 0.0;
  Prior prior_;
  ColumnMeans means_;
  double squares_ = 0.0;
  double entries_seen_ = 0.0;
  ProgressiveLoss progress_;
  std::uint64_t rows_ = 0;
  std::uint64_t prunes_ = 0;

  // Of one row: the entries whose weights are kept beside the sketch, and the others.
  HashedKeys hashed_;
  HashedKeys asked_;
  Buffer<std::uint32_t> rows_found_;
  Buffer<std::uint32_t> beside_;
  Buffer<std::uint32_t> sketched_;
  Buffer<float> beside_values_;
  Buffer<float> scaled_;  // P and C of what is kept, and its steps as in learn/row_steps.hpp
  Buffer<float> counts_;
  Buffer<float> steps_;
  Buffer<float> terms_;
  Buffer<float> sizes_;
  Buffer<float> shared_counts_;  // of the others, as in learn/class_steps.hpp
  Buffer<float> factors_;
  Buffer<float> other_terms_;
  Buffer<float> statures_;
  Buffer<std::uint32_t> above_;     // places in sketched_ of what may become active
  Buffer<std::uint32_t> risen_;     // the same in beside_
  Buffer<float> estimates_;         // of these x lanes; active=estimated: of all, until admission
  std::vector<double> scores_;      // by lane
  std::vector<double> shares_;      // by lane: p_c among the classes other than y
  std::vector<double> pulls_;       // by lane: sum of r x^2 over what is active
  std::vector<float> active_step_;  // by lane
  std::vector<float> other_step_;
  std::vector<float> asked_step_;  // by lane, of one key
  std::vector<float> asked_estimates_;
};

}  // namespace fsstream

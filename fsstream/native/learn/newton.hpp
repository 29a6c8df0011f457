// Newton: diagonal online Newton steps in fixed memory, no step size, any units of the columns.
//
// Prediction  u = b + g s,  s = sum over active i of w_i x_i      g: one scale for all (learn/common_scale.hpp)
// Row         v = importance * max(curvature of the loss at u, 1e-4)
//             C_i += v g^2,  P_i += v g^2 x_i^2      evidence of feature i, and the same in its units
//             L = 0.3 l^3 * mean over rows of (1 + entries)    prior evidence, l the share of the loss that
//                                                              is left (learn/prior.hpp)
//             E = C_i + L,  r_i = C_i / (P_i min(E, sqrt(50 E)))              inverse curvature
//             q' = r_b + r_g s^2 + g^2 sum r_i x_i^2 over the active features, q the same over all of the row
//             active: w_i += flow(q') / q' * g r_i x_i;  others: flow(q) / q * g r_i x_i
//             b += flow(q') / q' * r_b;  g += flow(q') / q' * r_g s           r_b = 1 / (C_b + min(L, 1))
//
// flow (learn/flow.hpp) is how far the row's loss pulls its prediction. P_i / C_i is the mean
// square of the feature where it occurs, so w_i sqrt(P_i / C_i) is its contribution at typical
// size: that is what the sketch holds for features that are not active, and what makes
// features of unlike units comparable. A feature's claim to be active is
//
//             |w_i| sqrt(P_i / C_i) (C_i + L)^(1/4)
//
// Steps. Up to an evidence of 50 they are those of a mean over the rows. From there on they fall only with the root of
// the evidence, since columns that say similar things need many small corrections: on covtype's 54 columns one pass
// gained .008 in accuracy by that, and sparse data hardly changed.
//
// Intercept. L is the prior of features, so the intercept has at most the evidence of one full row behind its 0
// (min(L, 1)). With L there it had gone a quarter of its way after 800 rows of 900 features, a tenth of them positive,
// and features that are in most rows were taken for what tells the labels apart (dorothea, k = 20: AUC .55; .85 now).
//
// Where numbers are kept. Active features keep w, P and C exactly. The others share the blocks of a BlockSketch: w lies
// in its rows, P and C in its pairs. Pairs count as shared where fewer than nine in ten are empty.
//
//   shared      The P of a pair is other features', too. A feature that is not active takes P = C x^2 from the value at
//               hand instead, or it would enter with a weight in another feature's unit: of the first 1,000 on the
//               bench stream 90 % were planted features then, and all are now.
//               A pair whose P / C is more than 64 times x^2 belongs to a bigger feature. The sketch's weight is taken
//               to be of that one, too, and the feature starts anew.
//   not shared  The P of a pair is its feature's. With P = C x^2 a value would count by its sign alone, and of columns
//               that are all positive, as those of most tables, none would stand out before it is active: with eight
//               columns, one of which is the label, --k 1 found it in .28 of 40 draws of 5,000 rows, and in all now.
//
// Leaving. What a prune drops gives its w to the sketch, as the difference to what the sketch says, so that asking
// gives it back. The pair keeps the larger evidence.
//
// Entering. A feature takes w, P and C from the sketch, less the evidence that nine in ten pairs do not exceed, but at
// least a tenth of it: where hundreds of rare features share a pair, one that enters with the evidence of all would
// hardly move any more. Where pairs are not shared nothing is taken off. The claim to enter has at most twice the
// evidence, L included, that is then left, so that what cannot stay does not enter again and again.
//
// Long tails. A weight is learned from values of some size. Before a row in which a value is more than 16 units of its
// feature, the weight shrinks to what makes the value count like 16. Counts and amounts have long tails, and one large
// value in a column that was small so far threw everything off (R2 of cpu_act's raw columns: -1,390 to .60 over eight
// shuffles, and .34 to .65 now). A limit of 8 costs selections of 10 features of raw counts .02 in accuracy.
//
// What is written is a g w, and a b + c for the intercept. a and c are what the scores of the rows, each from before
// the row was learned, would best have been changed by (learn/calibration.hpp). A weight in doubt is written smaller,
// one that the prior holds back larger, as far as those scores say so (learn/trust.hpp).
//
// Short streams, all rows of which are kept (learn/kept_rows.hpp): which k features stay is decided by fitting all rows
// (learn/final_refit.hpp), among the active features and those that left at the last prune. What is written of a weight
// is the mean of what the pass says (nothing, of those that left) and of that fit; so it is with the intercept. That of
// the pass counts on active features that the fit has dropped: what these add on average goes into it where that lowers
// the loss of the kept rows by a fifth at least. With the squared loss the fit alone is written: what the first rows
// taught the pass wrongly would be half of it.
//
// Later passes learn a row as the first did, but what it scores before says nothing of rows to come. So trust and g
// stay as the first pass left them, a = 1 and c = 0, and no row is kept twice.
//
// Tables. In a stream that is a table x is what a value is above the mean of its column (learn/column_means.hpp), in
// the pass as in the fit, and -m where a row has no value. What is written is of the values as they are. Without an
// intercept, which takes up the means, nothing is taken off. In a run that began with an earlier model the intercept
// follows the means, so that the weights of that model score values as they are, and the limit on how far a value may
// be from its mean in the first rows (ColumnMeans::farthest) does not hold.
//
// After the diagonal precisions of confidence-weighted learning and the importance-aware steps
// of Vowpal Wabbit, brought into the memory of MISSION.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/state.hpp"
#include "learn/calibration.hpp"
#include "learn/column_means.hpp"
#include "learn/common_scale.hpp"
#include "learn/evidence.hpp"
#include "learn/final_refit.hpp"
#include "learn/flow.hpp"
#include "learn/kept_rows.hpp"
#include "learn/learned_row.hpp"
#include "learn/loss.hpp"
#include "learn/prior.hpp"
#include "learn/row_losses.hpp"
#include "learn/row_steps.hpp"
#include "learn/trust.hpp"
#include "learn/weights.hpp"
#include "sketch/active_set.hpp"
#include "sketch/block_sketch.hpp"
#include "sketch/run_slots.hpp"

namespace fsstream {

class Newton {
 public:
  // `forget` below 1: all evidence fades by it, once a row. `room`: bytes for the rows of a short stream.
  Newton(Loss loss, BlockSketch sketch, std::size_t k, bool intercept, std::size_t memory, double forget = 1.0,
         std::size_t room = 0);

  // Learns the rows in order; scores[r] is what row r would have been given before it was learned.
  void update(const Batch& batch, float* scores);

  // A feature of an earlier model: its weight counts like a few rows, its unit is taken from the next row.
  void seed(Key key, const std::string& name, float weight);
  std::vector<Chosen> top() const;

  // Calibrated, as the weights of top() are.
  double intercept() const;
  void set_intercept(double intercept) { intercept_ = intercept; }
  // From now on rows come that were learned before.
  void repeat_rows() { repeats_ = true; }
  // Those that decide what is selected, 0 where the stream was too long to keep them.
  std::uint64_t rows_refitted() const { return kept_.rows().rows(); }
  std::uint64_t rows() const { return rows_; }
  double prior() const { return prior_.evidence(static_cast<double>(rows_)); }
  std::uint64_t candidates() const { return active_.size(); }
  std::uint64_t prunes() const { return prunes_; }
  const ActiveSet& active() const { return active_; }
  std::size_t bytes() const;
  void allow(std::size_t memory) { memory_ = memory; }
  // Progressive loss since the last call, and the weight it was summed over.
  std::pair<double, double> take_progress() { return progress_.take(); }

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  void make_room(std::size_t longest);
  using Row = LearnedRow;
  std::size_t learn_run(const Batch& batch, std::size_t row, float* scores);
  double learn_centred(const Batch& batch, std::size_t row);
  double active_at_means() const;
  void follow(const ColumnMeans::Change& change);
  void take_unit(const ColumnMeans::Beginning& beginning);
  double learn(const Batch& batch, const Row& row, double target, double importance);
  double look_up(const Batch& batch, const Row& row);
  void read_numbers();
  void write_numbers(float step);
  Trust::Parts parts_of(double sum);
  void gather_evidence(double v, double sum);
  void forget_units();
  void use_units();
  float farthest() const;
  void move(const RowLoss& loss, double h, double sum);
  void admit(const Batch& batch, const Row& row);
  void fade();
  void prune();
  void leave(std::span<ActiveSet::Entry> left);
  void remember(std::span<const ActiveSet::Entry> left);
  void keep(const Batch& batch);
  double beside(double of_pass, double of_fit) const;
  double added_by_dropped(const FinalRefit& refit) const;
  double loss_of_kept(double intercept) const;
  const FinalRefit* refit() const;
  double score_of_means() const;
  std::vector<Chosen> top_of_pass() const;
  std::vector<Chosen> top_of_refit(const FinalRefit& refit) const;
  float written(std::uint32_t slot, double claim, double scale, const Trust::Shares& trust) const;
  // How far the scores are to be trusted that the weights give now.
  Calibration::Line line() const { return repeats_ ? Calibration::Line{} : calibration_.line(); }
  double claim(double contribution, const Evidence& evidence) const;
  double claim_of(std::uint32_t slot, float weight) const;
  Evidence evidence_of(std::uint32_t slot) const {
    const float* numbers = active_.numbers(slot);
    return {numbers[1], numbers[2]};
  }
  void set(std::uint32_t slot, float weight, const Evidence& known);

  Loss loss_;
  BlockSketch sketch_;
  std::size_t k_;
  bool with_intercept_;
  std::size_t memory_;
  ActiveSet active_;  // w, P and C
  HashedKeys hashed_;
  HashedKeys leaving_;
  std::vector<ActiveSet::Entry> candidates_;  // of a prune; kept for its room
  RunSlots slots_of_run_;
  // Of one row: its active features, and the others.
  std::size_t actives_ = 0;
  std::size_t others_ = 0;
  std::size_t entering_ = 0;       // others whose claims exceed the threshold
  std::size_t others_at_ = 0;      // where they begin in the columns below
  Buffer<std::uint32_t> slots_;    // of the active ones
  Buffer<std::uint32_t> present_;  // their entries
  Buffer<std::uint32_t> absent_;   // the others'
  Buffer<float> active_values_;
  Buffer<float> other_values_;
  Buffer<float> weights_;  // of the active ones
  HashedKeys others_hashed_;
  // Of the active features, then of the others.
  Buffer<float> scaled_;
  Buffer<float> counts_;
  Buffer<float> estimates_;
  Buffer<float> steps_;
  Buffer<float> terms_;
  Buffer<double> claims_;  // of the others
  const RowSteps& row_ = row_steps();
  double intercept_ = 0.0;
  double intercept_evidence_ = 0.0;
  CommonScale scale_;
  Prior prior_;
  Calibration calibration_;
  Trust trust_;
  double threshold_ = 0.0;  // the claim a feature must exceed to enter, to the fourth power
  float load_ = 0.0F;       // evidence of others in a pair, as of the last prune
  double forget_;
  double fading_ = 1.0;  // factors of rows since all was last multiplied
  ProgressiveLoss progress_;
  std::uint64_t rows_ = 0;
  std::uint64_t prunes_ = 0;
  bool repeats_ = false;  // rows come that were learned before
  bool seeded_ = false;   // with weights of an earlier model, which say more than the rows so far do
  ColumnMeans means_;
  KeptRows kept_;
  ActiveSet left_;                           // at the last prune, while rows are kept
  mutable std::optional<FinalRefit> refit_;  // of the rows so far
};

}  // namespace fsstream

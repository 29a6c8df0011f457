// Weights in a count-sketch, k of them active: the two stores of MISSION.
//
// Both hold up to 2k candidates; at 2k the k with the largest |w| stay and the smallest of
// them is the threshold T that a feature's weight must exceed to enter (0 before that).
//
// EstimatedWeights, the paper's: every weight lives in the sketch. A feature counts when
//   the estimate of its weight exceeds T; one that exceeds T after its own update is
//   put on the list of candidates (where its name is kept), if it is not there.
// ExactWeights: the weights of active features live in the active set and do not touch the
//   sketch, so heavy features neither suffer from collisions nor cause them. Entering: the
//   sketch's estimate is the first weight. Leaving: the sketch gets w - estimate, so that
//   asking it gives w.
//
// Exact weights leave only light ones in the sketch, so a BlockSketch will do, at one cache line a
// key; estimates need the separate rows of a CountSketch.
//
// Estimates after adding d to a key are those before plus d, to the bit: the median of
// a + d is (median of a) + d, rounding included. (Keys of one row that meet in a cell are
// all read before any is changed.)
#pragma once

#include <algorithm>
#include <cmath>

#include "core/larger_first.hpp"
#include "learn/weights.hpp"
#include "sketch/active_set.hpp"
#include "sketch/block_sketch.hpp"
#include "sketch/count_sketch.hpp"
#include "sketch/run_slots.hpp"

namespace fsstream {

// What the two have in common: sketch, candidates, and room for one row.
template <class Sketch>
class SketchedWeights : public Weights {
 public:
  SketchedWeights(Sketch sketch, std::size_t k);

  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  std::vector<Chosen> top() const override;
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  std::vector<std::pair<std::string, std::string>> collided() const override { return active_.collided(); }
  std::size_t bytes() const override;

 protected:
  virtual float weight_of(const ActiveSet::Entry& entry) const = 0;  // as users know it
  const std::uint32_t* homes(const Row& row) const { return sketch_.homes(hashed_) + row.hashed; }
  // Counts features of the row that carry another name than they entered with.
  void check_names(const Row& row, const std::uint32_t* entries, std::size_t count);

  // The k best of candidates_ stay, in there, too; T becomes the smallest |weight| of them. `leaving(others)` as
  // ActiveSet's.
  template <class Leaving>
  void keep_best(Leaving leaving) {
    active_.prune(candidates_, k_, [this](Key key) { return sketch_.home(key); }, leaving);
    if (candidates_.size() >= k_)
      threshold_ = std::fabs(std::max_element(candidates_.begin(), candidates_.end(), LargerFirst())->weight);
    ++prunes_;
  }
  // What the sketch says of the weights of some entries, in its cells' unit, and where they lie.
  struct Asked {
    Buffer<Key> keys;
    HashedKeys hashed;
    Buffer<float> estimates;
  };
  Asked& ask(std::span<const ActiveSet::Entry> entries);
  // Arrays that both kinds save.
  void save_shared(StateWriter& out, double first, double second) const;
  std::span<const double> load_shared(const StateReader& in);

  std::size_t k_;
  Sketch sketch_;
  ActiveSet active_;
  HashedKeys hashed_;
  const RowKernels& kernels_ = row_kernels();
  // Of one row.
  Buffer<float> estimates_;
  Buffer<float> steps_;
  Buffer<std::uint32_t> slots_;
  Buffer<std::uint32_t> listed_;
  // Of one prune; kept for their room.
  std::vector<ActiveSet::Entry> candidates_;
  Asked asked_;
  float threshold_ = 0.0F;  // T, in the unit of the stored weights it is compared with
  std::uint64_t prunes_ = 0;
};

class EstimatedWeights final : public SketchedWeights<CountSketch> {
 public:
  using SketchedWeights::SketchedWeights;
  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double factor) override;
  void seed(Key key, const std::string& name, float weight) override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  float weight_of(const ActiveSet::Entry& entry) const override;
  void enter(const Row& row, std::size_t j);
  void prune();
  void attenuate_others(double factor);

  // Gamma is applied every k rows, because the top k must be put back each time.
  double pending_ = 1.0;
  std::uint64_t rows_pending_ = 0;
};

class ExactWeights final : public SketchedWeights<BlockSketch> {
 public:
  using SketchedWeights::SketchedWeights;
  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  double score(const Row& row) override;
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override;
  void attenuate(double factor) override;
  void seed(Key key, const std::string& name, float weight) override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  float weight_of(const ActiveSet::Entry& entry) const override;
  void add_others(const Row& row, float coefficient);
  void enter(const Row& row, std::size_t j, float weight);
  void prune();
  void hand_over(std::span<ActiveSet::Entry> left);

  double scale_ = 1.0;  // true weight of an active feature = scale_ * stored weight
  RunSlots slots_of_run_;
  // Of one row: its active entries are in listed_, their slots in slots_.
  std::size_t active_count_ = 0;
  Buffer<float> active_values_;
  Buffer<std::uint32_t> others_;  // entries that are not active
  HashedKeys others_hashed_;
  Buffer<float> others_values_;
};

}  // namespace fsstream

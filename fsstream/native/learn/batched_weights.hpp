// BatchedWeights: any store of weights, stepped along the mean gradient of `batch` rows at a time.
//
// All rows of a mini-batch are scored with the weights from before it; their steps add up to one
// row (learn/gradient_row.hpp) that the store takes when the batch is full or the data ends.
// With as many rows as the data has this is full-gradient descent: IHT as its theory has it,
// and the form of MISSION that section 9 of its paper proves to contract. Gamma acts once a step.
#pragma once

#include <memory>

#include "learn/gradient_row.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class BatchedWeights final : public Weights {
 public:
  BatchedWeights(std::unique_ptr<Weights> weights, std::size_t batch) : weights_(std::move(weights)), batch_(batch) {}

  void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) override;
  double score(const Row& row) override { return weights_->score(row); }
  void add(const Row& row, double coefficient) override;
  void shrink(double factor) override { weights_->shrink(factor); }
  void attenuate(double factor) override { attenuation_ = factor; }
  void end_row() override;
  void end_pass() override;

  void seed(Key key, const std::string& name, float weight) override { weights_->seed(key, name, weight); }
  std::vector<Chosen> top() const override { return weights_->top(); }
  std::vector<std::pair<std::string, std::uint64_t>> counts() const override { return weights_->counts(); }
  std::vector<std::pair<std::string, std::string>> collided() const override { return weights_->collided(); }
  std::size_t bytes() const override { return weights_->bytes() + gradient_.bytes(); }
  void save(StateWriter& out) const override;
  void load(const StateReader& in) override;

 private:
  struct Run {
    const Batch* batch;
    std::size_t first, size, longest;
  };
  void step();
  void step_within_run();

  std::unique_ptr<Weights> weights_;
  std::size_t batch_;
  std::size_t rows_ = 0;  // of the mini-batch so far
  double attenuation_ = 1.0;
  GradientRow gradient_;
  Run run_{};  // hashed last; a step hashes its own row in between
};

}  // namespace fsstream

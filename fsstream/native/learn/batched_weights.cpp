#include "learn/batched_weights.hpp"

namespace fsstream {

void BatchedWeights::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  run_ = {&batch, first, size, longest};
  weights_->hash(batch, first, size, longest);
}

void BatchedWeights::add(const Row& row, double coefficient) {
  if (!gradient_.fits(*row.batch)) step_within_run();  // names of another kind
  gradient_.add(row, coefficient);
}

void BatchedWeights::end_row() {
  if (++rows_ >= batch_) step_within_run();
}

// What the store had hashed for the run's rows gave way to the step's.
void BatchedWeights::step_within_run() {
  step();
  weights_->hash(*run_.batch, run_.first, run_.size, run_.longest);
}

void BatchedWeights::end_pass() {
  if (rows_ != 0) step();
  weights_->end_pass();
}

void BatchedWeights::step() {
  const Row row = gradient_.row();
  const double rows = static_cast<double>(rows_ == 0 ? 1 : rows_);
  rows_ = 0;
  if (row.size != 0) {
    weights_->hash(gradient_.batch(), 0, row.size, row.size);
    weights_->score(row);
    weights_->add(row, 1.0 / rows);
  }
  gradient_.clear();
  if (attenuation_ < 1.0) weights_->attenuate(attenuation_);
}

void BatchedWeights::save(StateWriter& out) const {
  const std::uint64_t rows = rows_;
  out.put("batch_rows", std::span<const std::uint64_t>(&rows, 1));
  out.put("batch_attenuation", std::span<const double>(&attenuation_, 1));
  gradient_.save(out);
  weights_->save(out);
}

void BatchedWeights::load(const StateReader& in) {
  rows_ = static_cast<std::size_t>(of_size(in.words("batch_rows"), 1, "batch_rows")[0]);
  if (rows_ >= batch_) throw BadState("state: more rows than a batch has");
  attenuation_ = of_size(in.doubles("batch_attenuation"), 1, "batch_attenuation")[0];
  gradient_.load(in);
  weights_->load(in);
}

}  // namespace fsstream

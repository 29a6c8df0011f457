// Weights: where a linear learner keeps its weights, and which of them count.
//
// The learner asks for a row's score, then adds a multiple of the row; how weights are
// stored, which are active and when features enter or leave is the store's own business.
// Between score and add of a row nothing else happens, so a store may remember what it
// looked up. Hashing is done for runs of rows at once, ahead of learning them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "core/state.hpp"

namespace fsstream {

struct Row {
  const Batch* batch;
  std::size_t first;  // entry in the batch
  std::size_t size;
  std::size_t hashed;  // entry in the run that was hashed last

  const Key* keys() const { return batch->keys.data() + first; }
  const float* values() const { return batch->values.data() + first; }
};

struct Chosen {
  Key key;
  float weight;
  std::string name;
};

class Weights {
 public:
  virtual ~Weights() = default;

  // Prepares the entries [first, first + size) of the batch: whole rows, the longest of `longest` entries.
  virtual void hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) = 0;
  // Sum of w_i x_i over the active features.
  virtual double score(const Row& row) = 0;
  // w += coefficient x, then features enter and leave.
  virtual void add(const Row& row, double coefficient) = 0;
  // w *= factor, everywhere.
  virtual void shrink(double factor) = 0;
  // w *= factor for what is not among the top k (the paper's gamma), once a row.
  virtual void attenuate(double factor) = 0;
  // After each row, and when the data has been seen once: a store may have gathered several rows.
  virtual void end_row() {}
  virtual void end_pass() {}

  // A weight from an earlier model.
  virtual void seed(Key key, const std::string& name, float weight) = 0;
  // The k largest |w|, ties by name, without zeros; in no particular order.
  virtual std::vector<Chosen> top() const = 0;

  // Counts for the summary, and names met on a key of the active set beside its own.
  virtual std::vector<std::pair<std::string, std::uint64_t>> counts() const { return {}; }
  virtual std::vector<std::pair<std::string, std::string>> collided() const { return {}; }

  virtual std::size_t bytes() const = 0;
  virtual void save(StateWriter& out) const = 0;
  virtual void load(const StateReader& in) = 0;
};

}  // namespace fsstream

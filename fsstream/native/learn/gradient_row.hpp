// GradientRow: what the rows of a mini-batch add up to: a row of its own, with the name of each of
// its features, that a store of weights can take as any other.
#pragma once

#include "core/row_copy.hpp"
#include "learn/feature_table.hpp"
#include "learn/saved_rows.hpp"
#include "learn/weights.hpp"

namespace fsstream {

class GradientRow {
 public:
  GradientRow() { clear(); }

  // sum += coefficient * x of the row. All rows of a sum have names of one kind.
  void add(const Row& row, double coefficient) {
    index_.reserve(index_.size() + row.size);
    if (sum_.keys.empty()) {
      sum_.naming = row.batch->naming;
      sum_.kmer_length = row.batch->kmer_length;
    }
    for (std::size_t j = row.first; j < row.first + row.size; ++j) {
      Slot slot = index_.find(row.batch->keys[j]);
      if (slot == kNobody) {
        slot = index_.add({row.batch->keys[j]});
        append_entries(*row.batch, j, j + 1, sum_);
        amounts_.push_back(0.0);
      }
      amounts_[slot] += coefficient * static_cast<double>(row.batch->values[j]);
    }
  }

  bool fits(const Batch& batch) const { return sum_.keys.empty() || same_naming(batch, sum_); }
  std::size_t size() const { return amounts_.size(); }
  // The place of a key in the sum, or kNobody.
  Slot find(Key key) const { return index_.find(key); }
  std::span<const Key> keys() const { return {sum_.keys.data(), sum_.keys.size()}; }
  std::span<const double> amounts() const { return amounts_.span(); }

  // The row, its values `values` instead of the sums; valid until anything is added.
  template <class Values>
  Row row(const Values& values) {
    for (std::size_t i = 0; i < size(); ++i) sum_.values[i] = static_cast<float>(values[i]);
    return {&sum_, 0, size(), 0};
  }
  Row row() { return row(amounts_); }
  const Batch& batch() const { return sum_; }

  void clear() {
    sum_.start({}, nullptr);
    index_ = FeatureTable<Record>();
    amounts_.clear();
  }
  void clear_amounts() {
    for (double& amount : amounts_.span()) amount = 0.0;
  }

  void save(StateWriter& out) const {
    save_entries(sum_, out);
    out.put("gradient", amounts());
  }
  void load(const StateReader& in) {
    clear();
    load_entries(in, sum_);
    index_.reserve(sum_.keys.size());
    for (const Key key : sum_.keys.span()) {
      if (index_.find(key) != kNobody) throw BadState("state: a key twice");
      index_.add({key});
    }
    const auto amounts = of_size(in.doubles("gradient"), sum_.keys.size(), "gradient");
    amounts_.append(amounts.data(), amounts.size());
  }

  std::size_t bytes() const {
    return index_.bytes() + size() * (sizeof(Key) + sizeof(float) + sizeof(double) + sizeof(TextRef)) +
           sum_.arena.size();
  }

 private:
  struct Record {
    Key key;
  };

  Batch sum_;
  FeatureTable<Record> index_;  // slot = entry of the sum
  Buffer<double> amounts_;
};

}  // namespace fsstream

// WeightTable: a float for each key that was ever added to, found by the key. What a count-sketch
// would be without collisions, at the price of memory that grows with the keys.
#pragma once

#include "core/state.hpp"
#include "learn/feature_table.hpp"
#include "sketch/lazy_scale.hpp"

namespace fsstream {

class WeightTable {
 public:
  float query(Key key) const {
    const Slot slot = table_.find(key);
    return slot == kNobody ? 0.0F : table_[slot].weight;
  }
  void add(Key key, float amount) {
    const Slot slot = table_.find(key);
    if (slot != kNobody) {
      table_[slot].weight += amount;
      return;
    }
    table_.reserve(table_.size() + 1);
    table_.add({key, amount});
  }

  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // As CountSketch::shrink.
  bool shrink(double factor, double& rewritten) {
    scale_ *= factor;
    if (scale_ >= kSmallestFloatScale) return false;
    rewritten = scale_;
    for (Slot slot = 0; slot < table_.size(); ++slot)
      table_[slot].weight = static_cast<float>(table_[slot].weight * rewritten);
    scale_ = 1.0;
    return true;
  }

  std::size_t bytes() const { return table_.bytes(); }

  void save(StateWriter& out) const {
    const auto record = [this](std::size_t i) -> const Record& { return table_[static_cast<Slot>(i)]; };
    put_each<std::uint64_t>(out, "memory_keys", table_.size(), [&](std::size_t i) { return record(i).key; });
    put_each<float>(out, "memory_weights", table_.size(), [&](std::size_t i) { return record(i).weight; });
  }

  void load(const StateReader& in) {
    const auto keys = in.words("memory_keys");
    const auto weights = of_size(in.floats("memory_weights"), keys.size(), "memory_weights");
    table_ = {};
    table_.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (table_.find(keys[i]) != kNobody) throw BadState("state: a key twice");
      table_.add({keys[i], weights[i]});
    }
  }

 private:
  struct Record {
    Key key;
    float weight;
  };

  FeatureTable<Record> table_;
  double scale_ = 1.0;
};

}  // namespace fsstream

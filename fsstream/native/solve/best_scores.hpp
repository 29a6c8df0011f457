// The largest |c_j| of a scan: kept while features come by in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/feature_index.hpp"
#include "solve/feature_scores.hpp"

namespace fsstream {

// The best so far; the worst of them on top of a heap. Ties: the smaller key.
class BestScores {
 public:
  using Scored = FeatureScores::Scored;

  BestScores(std::size_t count, std::span<const Key> without) : count_(count) {
    for (const Key key : without) excluded_.insert(key);
  }

  // The smallest |c| that still gets in.
  double needed() const { return heap_.size() == count_ ? std::abs(heap_.front().score) : 0.0; }

  void offer(Key key, double score) {
    const Scored found{key, score};
    if (score == 0.0 || (heap_.size() == count_ && !better(found, heap_.front()))) return;
    if (excluded_.find(key) != FeatureIndex::kNone) return;
    if (heap_.size() == count_) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }

  std::vector<Scored> sorted() {
    std::sort(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  static bool better(const Scored& a, const Scored& b) {
    const double x = std::abs(a.score);
    const double y = std::abs(b.score);
    return x != y ? x > y : a.key < b.key;
  }

  std::size_t count_;
  FeatureIndex excluded_;
  std::vector<Scored> heap_;
};

}  // namespace fsstream

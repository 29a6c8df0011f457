// NamespaceSketches: c of namespaces with more features than a table of them holds, a count-sketch each.
//
// The squares of one row of a sketch add up to |c|^2 of its namespace, give or take sqrt(2 / width)
// of it and without bias (Alon, Matias, Szegedy 1999): what the worst case wants of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "sketch/count_sketch.hpp"

namespace fsstream {

class NamespaceSketches {
 public:
  // `shift`: there is a second sum of every feature until `finish`.
  NamespaceSketches(bool shift, std::uint64_t seed) : shift_(shift), seed_(seed) {}

  // The namespace of this number is sketched from now on, in at most so many bytes.
  void take(std::uint32_t number, std::size_t bytes);
  bool any() const { return !numbers_.empty(); }
  bool holds(std::uint32_t number) const { return number < sums_.size() && sums_[number] != nullptr; }
  // In the order they were taken.
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  std::size_t bytes() const;

  void add(std::uint32_t number, Key key, double sum, double plain = 0.0);
  // Every sum becomes slope sum + offset plain.
  void finish(double slope, double offset);
  void clear();
  // |c|^2 of a namespace: the median over the sketch's rows.
  double square(std::uint32_t number) const;

 private:
  struct Sums {
    CountSketch sum;
    std::optional<CountSketch> plain;
  };

  bool shift_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Sums>> sums_;  // by number; none: its features are exact
};

}  // namespace fsstream

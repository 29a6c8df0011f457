// LabelMap: labels as written -> targets as learners want them.
//
// Two labels are the same when they are the same number ("1", "+1", "1.0") or the same bytes.
//   numbers  target = the number
//   binary   target = -1 or +1
//   classes  target = 0, 1, ... in order of first appearance, up to a maximum
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/batch.hpp"
#include "core/fault.hpp"

namespace fsstream {

// One spelling for equal labels: the shortest decimal of a number, all digits of a whole one below 2^64, else
// the bytes.
std::string canonical_label(std::string_view text, double value);

class LabelMap {
 public:
  enum class Kind : std::uint8_t { kNumbers, kBinary, kClasses };

  // `labels` are canonical: (negative, positive) when binary, the known classes otherwise.
  // A binary map may start with fewer: the first label met is then -1, the next +1.
  // A closed map gives NaN to labels it does not know instead of faulting: what prediction needs.
  LabelMap(Kind kind, std::vector<std::string> labels, std::size_t max_classes, bool open);

  void set_weight(const std::string& label, float weight) { weights_[label] = weight; }

  struct Problem {
    std::size_t row;
    Fault fault;
  };
  // Fills batch.targets and multiplies class weights into batch.importance.
  std::optional<Problem> resolve(Batch& batch);

  const std::vector<std::string>& labels() const { return labels_; }

 private:
  struct Known {
    float target;
    float weight;
  };
  std::optional<Fault> look_up(std::string_view text, double value, Known& found);
  std::optional<Fault> look_up_number(double value, Known& found) const;
  std::optional<Fault> admit(const std::string& label, Known& found);
  float weight_of(const std::string& label) const;

  Kind kind_;
  bool open_;
  std::size_t max_classes_;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, float> weights_;
  std::unordered_map<std::string, Known> known_;  // by canonical spelling
};

}  // namespace fsstream

#include "core/label_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace fsstream {

namespace {

constexpr Fault kMissing{"a label", "every row must start with its label to be learned from"};
constexpr Fault kNotANumber{"a number as label", "a squared loss predicts numbers; use --loss softmax for classes"};
constexpr Fault kThirdLabel{
    "one of two labels", "more than two classes need --loss softmax, or one-versus-rest by naming a two-class --loss"};
constexpr Fault kTooManyClasses{"no more classes than --max-classes",
                                "raise --max-classes if these labels are classes"};
constexpr Fault kOutOfRange{"a label between 1e-38 and 3e38, or 0",
                            "scale the labels: learning is done in 32-bit numbers"};
constexpr Fault kTooHeavy{"a row weight below 3e38", "--class-weight times the row's own weight is larger than that"};
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr double kEachWhole = 9007199254740992.0;  // 2^53: from here on a double is not every whole number

bool is_inexact(double value) { return std::fabs(value) >= kEachWhole; }

// The digits of a whole number below 2^64 as they stand, without sign and leading zeros; else empty.
std::string_view digits_of(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return text.substr(std::min(text.find_first_not_of('0'), text.size()));
}

}  // namespace

std::string canonical_label(std::string_view text, double value) {
  if (std::isnan(value)) return std::string(text);
  if (value == 0) return "0";
  if (is_inexact(value)) {
    const std::string_view whole = digits_of(text);
    if (!whole.empty()) return std::string(value < 0 ? "-" : "").append(whole);
  }
  char digits[32];
  const auto end = std::fabs(value) < 0x1p64
                       ? std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed)
                       : std::to_chars(digits, digits + sizeof digits, value);
  return end.ec == std::errc() ? std::string(digits, end.ptr) : std::string(text);
}

LabelMap::LabelMap(Kind kind, std::vector<std::string> labels, std::size_t max_classes, bool open)
    : kind_(kind), open_(open), max_classes_(max_classes), labels_(std::move(labels)) {}

float LabelMap::weight_of(const std::string& label) const {
  const auto found = weights_.find(label);
  return found == weights_.end() ? 1.0F : found->second;
}

std::optional<Fault> LabelMap::admit(const std::string& label, Known& found) {
  std::size_t index = 0;
  while (index < labels_.size() && labels_[index] != label) ++index;
  found = {kUnknown, weight_of(label)};
  if (index == labels_.size()) {
    if (!open_) return std::nullopt;
    if (kind_ == Kind::kBinary && labels_.size() == 2) return kThirdLabel;
    if (labels_.size() == max_classes_) return kTooManyClasses;
    labels_.push_back(label);
  }
  const bool positive = index == 1;
  found.target = kind_ == Kind::kClasses ? static_cast<float>(index) : (positive ? 1.0F : -1.0F);
  known_.emplace(label, found);
  return std::nullopt;
}

std::optional<Fault> LabelMap::look_up(std::string_view text, double value, Known& found) {
  if (text.empty()) {
    found = {kUnknown, 1.0F};
    return open_ ? std::optional(kMissing) : std::nullopt;
  }
  if (kind_ == Kind::kNumbers) return look_up_number(value, found);
  const std::string label = canonical_label(text, value);
  const auto seen = known_.find(label);
  if (seen == known_.end()) return admit(label, found);
  found = seen->second;
  return std::nullopt;
}

std::optional<Fault> LabelMap::look_up_number(double value, Known& found) const {
  const auto target = static_cast<float>(value);
  const bool fits = std::isnormal(target) || value == 0;
  found = {fits ? target : kUnknown, 1.0F};
  if (fits || !open_) return std::nullopt;
  return std::isnan(value) ? kNotANumber : kOutOfRange;
}

std::optional<LabelMap::Problem> LabelMap::resolve(Batch& batch) {
  // Labels repeat: nearly all rows of two classes are settled by comparing with the last two. Numbers are compared
  // as such, so that their text, which the parser has left, is not fetched again.
  struct Seen {
    double value;
    std::optional<std::string_view> text;  // of one that its number does not tell
    Known known;

    static bool is_told_by_text(double number) { return std::isnan(number) || is_inexact(number); }
    bool is_of(const Batch& batch, std::size_t row) const {
      const double number = batch.label_values[row];
      return is_told_by_text(number) ? batch.view(batch.labels[row]) == text : number == value;
    }
  };
  // The last two. Which of them it is, in streams of two classes, is a number and not a branch to be guessed.
  constexpr Seen kNothing{std::numeric_limits<double>::quiet_NaN(), std::nullopt, {kUnknown, 1.0F}};
  Seen seen[2] = {kNothing, kNothing};
  std::size_t at = 0;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::size_t before = at;
    at = std::size_t{!seen[0].is_of(batch, row)};
    if (!seen[at].is_of(batch, row)) [[unlikely]] {
      const double value = batch.label_values[row];
      const std::string_view text = batch.view(batch.labels[row]);
      at = 1 - before;
      if (const auto fault = look_up(text, value, seen[at].known)) return Problem{row, *fault};
      seen[at].value = value;
      seen[at].text = Seen::is_told_by_text(value) ? std::optional(text) : std::nullopt;
    }
    batch.targets[row] = seen[at].known.target;
    batch.importance[row] *= seen[at].known.weight;
    if (std::isinf(batch.importance[row])) return Problem{row, kTooHeavy};
  }
  return std::nullopt;
}

}  // namespace fsstream

// jsonl: one JSON object a line, one row an object.
//
//   number            the feature `key` with its value
//   string, boolean   the feature `key=value`, 1
//   array of strings  `key=value` for each, 1; the same one again adds up
//   object            its members, their keys behind `key.`
//   null              no feature
//
// The label is a string, number or boolean under the label's key; without it, or with null, the
// row has none. A key twice in one object, an array of anything else and more than 64 objects
// within each other are bad records. Blank lines are skipped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parse/json.hpp"
#include "parse/key_set.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class JsonlParser final : public Parser {
 public:
  static constexpr std::size_t kDeepest = 64;

  explicit JsonlParser(std::string label) : label_key_(std::move(label)) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);
  Verdict read_object(Batch& batch, JsonCursor& json);
  Verdict open(JsonCursor& json);
  Verdict read_key(JsonCursor& json);
  Verdict read_value(Batch& batch, JsonCursor& json);
  Verdict read_scalar(Batch& batch, JsonCursor& json);
  Verdict read_label(Batch& batch, JsonCursor& json);
  Verdict read_tokens(Batch& batch, JsonCursor& json);
  Verdict add_number(Batch& batch, std::string_view number);
  Verdict add_word(Batch& batch, const char* at, std::string_view word);

  const std::string label_key_;
  RowMerge merge_;

  // Of the record at hand.
  struct Level {
    std::size_t path;      // bytes of path_ that its keys stand behind
    std::uint64_t object;  // tells objects apart
  };
  std::array<Level, kDeepest> levels_;
  std::size_t depth_ = 0;
  std::uint64_t objects_ = 0;
  std::string path_;  // the keys down to the value at hand, joined by dots
  std::string scratch_;
  KeySet keys_;
  TextRef label_{};
  double label_value_ = 0;
};

}  // namespace fsstream

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

#include "parse/composed_row.hpp"
#include "parse/json.hpp"
#include "parse/json_columns.hpp"
#include "parse/key_set.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class JsonlParser final : public Parser {
 public:
  static constexpr std::size_t kDeepest = 64;

  explicit JsonlParser(const std::string& label) : label_key_(label), columns_(label) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  // The record at hand: its text and its entries.
  struct Record {
    JsonCursor json;
    Batch& batch;
    ComposedRow row;
  };
  // The member at hand, by the keys down to it.
  struct Member {
    JsonColumn* column;      // nullptr where it is not among those that are known
    std::string_view front;  // `path=`, and bytes that may be read with it

    std::string_view path() const { return front.substr(0, front.size() - 1); }
  };
  struct Level {
    JsonColumn* column;    // whose value the object is
    JsonColumn** next;     // where the column of its next key is expected, and noted
    std::size_t path;      // bytes of path_ that its keys stand behind, where the column is not known
    std::uint64_t object;  // tells objects apart
  };
  enum class Place : std::uint8_t { kKey, kValue, kBehind };  // of a member

  Verdict read_line(Batch& batch, const char* begin, const char* end);
  Verdict read_object(Record& record);
  Place read_plain_members(Record& record, Member& member);
  JsonColumn* expected_at(const Level& level, const char* p, const char* end) const;
  const char* add_plain_value(Record& record, const Member& member, const char* p);
  Verdict open(Record& record, const Member& of);
  Verdict read_key(Record& record, Member& member);
  Verdict name_strange_key(const char* at, std::string_view key, std::uint64_t hash, Member& member);
  Verdict read_value(Record& record, const Member& member);
  Verdict read_scalar(Record& record, const Member& member);
  Verdict read_label(Record& record);
  Verdict read_tokens(Record& record, const Member& member);
  Verdict add_number(Record& record, const Member& member, std::string_view number);
  void add_value(Record& record, const Member& member, float value);
  Verdict add_word(Record& record, const Member& member, const char* at, std::string_view word);

  const std::string label_key_;
  JsonColumns columns_;
  RowMerge merge_;
  WaitingNames waiting_;
  std::uint64_t batches_ = 0;  // and arenas that were cut: names in one of before are gone
  std::uint64_t records_ = 0;
  int surprises_ = 0;  // keys that were not expected, lately: among many none is

  // Of the record at hand.
  std::array<Level, kDeepest> levels_;
  std::size_t depth_ = 0;
  std::uint64_t objects_ = 0;
  std::string path_;  // the keys down to the value at hand, joined by dots, where its column is not known
  std::string scratch_;
  std::string word_;
  KeySet keys_;  // those whose columns are not known
  TextRef label_{};
  double label_value_ = 0;
};

}  // namespace fsstream

// JsonColumns: what a reader of JSON lines has learned of their keys.
//
// Lines repeat their keys, mostly in one order: each key that was met leads to the one that followed it, and is known
// again by a comparison with the text. A column is a key in the object of another column, so it occurs once in a
// record.
//
// Of endless keys the first ones are kept; which they are has no effect but on speed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "parse/composed_row.hpp"

namespace fsstream {

// What stands behind a path, so that it is the front of words: `=`, and bytes that may be read with it.
inline constexpr std::string_view kBehindPath{"=\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1 + kPiece};

struct JsonColumn {
  // The key in its quotes, as it stands in text; empty when it is written with escapes.
  std::string quoted;
  // Of that, the first sixteen bytes, and which of them count.
  std::array<std::uint64_t, 2> words;
  std::array<std::uint64_t, 2> masks;

  std::string path;  // the keys down to this one, joined by dots, and kBehindPath
  std::size_t path_size;
  std::string_view key;  // the last one in `path`
  Key number;            // of the path as a feature's name
  bool is_label;
  const JsonColumn* parent;
  std::uint64_t id;  // tells columns apart; of the root 0

  JsonColumn* next = nullptr;   // in the same object, the last time
  JsonColumn* first = nullptr;  // in the object that is its value
  std::uint64_t record = 0;     // it was met in last
  std::uint64_t named = 0;      // `name` is of this batch
  TextRef name{};

  std::string_view name_text() const { return {path.data(), path_size}; }
  std::string_view front() const { return {path.data(), path_size + 1}; }
};

class JsonColumns {
 public:
  static constexpr std::size_t kMost = 1024;

  explicit JsonColumns(std::string label) : label_(std::move(label)), slots_(2 * kMost) {}

  JsonColumn& root() { return root_; }

  // The column of a key in the object of `parent`; nullptr when it is new and there is no room. The hash is of both.
  JsonColumn* at(const JsonColumn& parent, std::string_view key, std::uint64_t hash) {
    return full_ && !may_hold(hash) ? nullptr : find(parent, key, hash);
  }

 private:
  // Among endless keys nearly all are settled by this, in a branch that is foreseen.
  bool may_hold(std::uint64_t hash) const { return (held_[hash >> 54U] >> (hash >> 48U & 63U) & 1U) != 0; }
  JsonColumn* find(const JsonColumn& parent, std::string_view key, std::uint64_t hash);

  struct Slot {
    std::uint64_t hash = 0;
    JsonColumn* column = nullptr;
  };
  JsonColumn* add(const JsonColumn& parent, std::string_view key);

  static constexpr std::size_t kMostText = std::size_t{1} << 18U;  // bytes of all names

  const std::string label_;
  JsonColumn root_{};
  std::deque<JsonColumn> columns_;
  std::vector<Slot> slots_;
  std::array<std::uint64_t, 1024> held_{};
  bool full_ = false;
  std::size_t text_ = 0;
};

// Whether the column's key stands in quotes at p; sixteen bytes are readable there.
[[gnu::always_inline]] inline bool stands_at(const JsonColumn& column, const char* p, const char* end) {
  std::array<std::uint64_t, 2> there;
  std::memcpy(there.data(), p, sizeof there);
  const std::uint64_t differs =
      ((there[0] ^ column.words[0]) & column.masks[0]) | ((there[1] ^ column.words[1]) & column.masks[1]);
  if (differs != 0 || column.quoted.empty()) return false;
  if (column.quoted.size() <= sizeof there) [[likely]]
    return true;
  return static_cast<std::size_t>(end - p) >= column.quoted.size() &&
         std::memcmp(p, column.quoted.data(), column.quoted.size()) == 0;
}

}  // namespace fsstream

// Batch: the rows of one Block, parsed. Compressed sparse rows with 64-bit keys.
//
// A row is an example; in the `columns` format it is a feature, its label span holds
// the feature's name and its keys are sample numbers.
//
//   row_starts  [0 .. rows]     entries of row r are row_starts[r] .. row_starts[r+1]
//   labels, label_values, targets, importance, records, tags   [rows]
//   keys, values, names         [entries]; within a row each key occurs once
//
// Names are not copied: a TextRef points into the Block's text or, for names that are
// composed (`column=cell`, `namespace^name`, word n-grams), into the Batch's arena.
// Both live until the Batch is filled again.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buffer.hpp"

namespace fsstream {

using Key = std::uint64_t;

struct TextRef {
  static constexpr std::uint32_t kArena = std::uint32_t{1} << 31;
  std::uint32_t offset = 0;  // kArena set: counted in the arena, else in the text
  std::uint32_t length = 0;
};

// How a key is named again.
enum class Naming : std::uint8_t {
  kDecimal,  // the key is the number
  kKmer,     // the key is 2 bits a letter, kmer_length letters
  kText,     // names[] says
};

// A record that could not be parsed: what stood where, and what would have been right.
struct BadRecord {
  std::uint64_t record;  // offset of the record's first byte in the text
  std::uint64_t length;  // its bytes, line end not included
  std::uint64_t column;  // offset of the offending byte in the text
  const char* expected;  // "index:value"
  const char* hint;      // one sentence
};

struct Batch {
  Buffer<std::uint64_t> row_starts;
  Buffer<TextRef> labels;         // as written, without surrounding blanks; length 0: none
  Buffer<double> label_values;    // the label as a number; NaN when it is not one
  Buffer<float> targets;          // what the learner sees, filled by LabelMap: +-1, a class, a number
  Buffer<float> importance;       // weight of the row, 1 unless the input says otherwise
  Buffer<std::uint32_t> records;  // offset of the row's record in the text
  Buffer<TextRef> tags;           // vw tags; empty when the format has none
  Buffer<Key> keys;
  Buffer<float> values;
  Buffer<TextRef> names;  // only with Naming::kText

  Buffer<char> arena;
  std::vector<BadRecord> bad;
  std::deque<std::string> remarks;    // what `bad` points to where a constant does not do
  std::uint64_t skipped_windows = 0;  // k-mer windows with letters other than ACGT
  std::uint64_t collisions = 0;       // entries added to one whose key has another name in the same row
  Naming naming = Naming::kDecimal;
  int kmer_length = 0;
  const char* text = nullptr;
  std::size_t text_size = 0;
  std::size_t most_resident = 0;           // bytes of the process up to which the arena grows; 0: any
  bool read_elsewhere = false;             // another core than that which fills it learns the rows
  std::string source;                      // the name of what the text came from: a label may hang on it
  bool starts_source = true;               // the text begins where its source begins: a header comes first
  std::shared_ptr<const void> text_owner;  // keeps the Block's buffer alive

  std::size_t rows() const { return targets.size(); }
  std::size_t entries() const { return keys.size(); }
  std::size_t row_begin(std::size_t row) const { return row_starts[row]; }
  std::size_t row_end(std::size_t row) const { return row_starts[row + 1]; }

  // Bytes of a long record's row that no reserve for blocks covers: they count against a limit of memory.
  std::size_t bytes_beyond_blocks() const {
    constexpr std::size_t kForBlocks = std::size_t{24} << 20;
    const std::size_t entry = sizeof(Key) + sizeof(float) + (naming == Naming::kText ? sizeof(TextRef) : 0);
    const std::size_t held = text_size + arena.size() + entries() * entry;
    return held > kForBlocks ? held - kForBlocks : 0;
  }

  std::string_view view(TextRef ref) const {
    const bool composed = (ref.offset & TextRef::kArena) != 0;
    const char* base = composed ? arena.data() : text;
    return {base + (ref.offset & ~TextRef::kArena), ref.length};
  }

  // The name of entry `j`; derived names are spelled into `scratch`.
  std::string_view name(std::size_t j, std::string& scratch) const;

  // Empties the batch and points it at a text; capacity is kept.
  void start(std::string_view from, std::shared_ptr<const void> owner);

  // Room for this many more rows and entries, so that parsers may write unchecked.
  void reserve(std::size_t more_rows, std::size_t more_entries);

  // Ends the row whose entries were appended since the last row ended.
  void end_row(TextRef label, double label_value, float weight, std::uint32_t record) {
    labels.push_back(label);
    label_values.push_back(label_value);
    targets.push_back(std::numeric_limits<float>::quiet_NaN());
    importance.push_back(weight);
    records.push_back(record);
    row_starts.push_back(keys.size());
    if (read_elsewhere && keys.size() + kAhead > asked_) ask_for_room();
  }

  // Drops the entries of a row that was begun and turned out bad.
  void drop_row() {
    const std::size_t begin = row_starts.back();
    keys.set_size(begin);
    values.set_size(begin);
    if (naming == Naming::kText) names.set_size(begin);
  }

  // Scales every row to unit Euclidean length; rows of zeros stay.
  void normalize_l2();

  // Copies composed bytes, given in one piece or in two, into the arena.
  TextRef compose(std::string_view bytes, std::string_view more = {}) {
    const std::size_t size = bytes.size() + more.size();
    grow_arena(size);
    const TextRef ref{static_cast<std::uint32_t>(arena.size()) | TextRef::kArena, static_cast<std::uint32_t>(size)};
    arena.append(bytes.data(), bytes.size());
    arena.append(more.data(), more.size());
    return ref;
  }

  [[noreturn]] static void throw_arena_full();

  // Room for so many more composed bytes, within 1 GiB and the memory that the process may take.
  void grow_arena(std::size_t more) {
    if (arena.capacity() - arena.size() < more) allow_arena(more);
  }

  void allow_arena(std::size_t more);

  // Keeps the text of a fault that was made for the occasion, as long as the fault.
  const char* remark(std::string words) { return remarks.emplace_back(std::move(words)).c_str(); }

 private:
  static constexpr std::size_t kAhead = 512;  // entries: what the first cache has room for besides the text

  void ask_for_room();

  std::size_t asked_ = 0;       // entries whose lines have been asked for
  std::size_t asked_rows_ = 0;  // the same for rows
};

// The letters of a 2-bit k-mer, first base highest.
void append_kmer(Key key, int length, std::string& out);

}  // namespace fsstream

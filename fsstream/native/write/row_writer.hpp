// RowWriter: the kept features of a batch's rows -> text of a format. One per family of formats;
// what the features are called there is spelled beforehand, so that names are checked once.
//
// A row the format has no words for ends the writing: rows before it are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "core/fault.hpp"
#include "write/kept_keys.hpp"
#include "write/text_buffer.hpp"

namespace fsstream {

struct RowProblem {
  std::size_t row;
  Fault fault;
};

class RowWriter {
 public:
  explicit RowWriter(std::span<const Key> keys) : kept_(keys) {}
  virtual ~RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  // Replaces `out` by the text of the rows.
  std::optional<RowProblem> write(const Batch& batch, TextBuffer& out);

  // Entries written, and tags the format has no place for.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t tags_left_out() const { return tags_left_out_; }

 protected:
  // Appends row `row` with its line end; a fault when the format cannot hold it.
  virtual std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) = 0;
  virtual bool keeps_tags() const { return false; }
  virtual bool keeps_weights() const { return false; }

  // Calls use(feature, value) for the kept entries of a row, until a fault.
  template <class Use>
  std::optional<Fault> for_each_kept(const Batch& batch, std::size_t row, Use&& use) {
    const std::size_t end = batch.row_end(row);
    for (std::size_t j = batch.row_begin(row); j < end; ++j) {
      const std::uint32_t feature = kept_.find(batch.keys[j]);
      if (feature == KeptKeys::kNone) continue;
      if (const std::optional<Fault> fault = use(feature, batch.values[j])) return fault;
      ++entries_;
    }
    return std::nullopt;
  }

  void count(std::size_t entries) { entries_ += entries; }

  KeptKeys kept_;

 private:
  std::uint64_t entries_ = 0;
  std::uint64_t tags_left_out_ = 0;
};

// What a word is repeated for a count; a fault when the value is no count.
std::optional<Fault> check_count(float value);

// A label where a word is expected: one field, without what would be read as something else.
std::optional<Fault> check_word_label(std::string_view label);

}  // namespace fsstream

// Lines of libsvm, pairs, tokens, vw, jsonl, and columns. A row is its label, then a piece of text for
// each kept feature, the value behind it or the piece repeated.
#pragma once

#include "write/row_writer.hpp"

namespace fsstream {

// `label name:value ...`. A feature's piece is ` name:`. Labels of libsvm have no comment, and what
// stands between label and entries (`qid:n`) stays.
class EntryLineWriter : public RowWriter {
 public:
  EntryLineWriter(std::span<const Key> keys, std::vector<std::string> pieces, bool numbered, bool keeps_query)
      : RowWriter(keys), pieces_(std::move(pieces)), numbered_(numbered), keeps_query_(keeps_query) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  std::vector<std::string> pieces_;
  bool numbered_;
  bool keeps_query_;
};

// `label word word ...`: a feature's piece is ` word`, as often as it is counted.
class WordLineWriter : public RowWriter {
 public:
  WordLineWriter(std::span<const Key> keys, std::vector<std::string> pieces)
      : RowWriter(keys), pieces_(std::move(pieces)) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  std::vector<std::string> pieces_;
};

// `label [weight] ['tag] |ns name[:value] ...`. A feature has a namespace, by number, and a piece ` name`.
class VwLineWriter : public RowWriter {
 public:
  VwLineWriter(std::span<const Key> keys, std::vector<std::string> pieces, std::vector<std::string> spaces,
               std::vector<std::uint32_t> space_of)
      : RowWriter(keys), pieces_(std::move(pieces)), spaces_(std::move(spaces)), space_of_(std::move(space_of)) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;
  bool keeps_tags() const override { return true; }
  bool keeps_weights() const override { return true; }

 private:
  std::vector<std::string> pieces_;
  std::vector<std::string> spaces_;
  std::vector<std::uint32_t> space_of_;
};

// `{"label":...,"name":value,...}`. A feature's piece is `"name":`; `label_key` is the label's.
class JsonLineWriter : public RowWriter {
 public:
  JsonLineWriter(std::span<const Key> keys, std::vector<std::string> pieces, std::string label_key)
      : RowWriter(keys), pieces_(std::move(pieces)), label_key_(std::move(label_key)) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  std::vector<std::string> pieces_;
  std::string label_key_;
};

// `name sample:value ...`: a row is a feature, kept or not, under its name or another.
class ColumnLineWriter : public RowWriter {
 public:
  ColumnLineWriter(std::span<const Key> keys, std::vector<std::string> names)
      : RowWriter(keys), names_(std::move(names)) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  std::vector<std::string> names_;
};

}  // namespace fsstream

// Sequences reduced to kept k-mers: each as often as it was counted, parted by N, so that reading them
// again finds these windows and no others.
#pragma once

#include "write/row_writer.hpp"

namespace fsstream {

enum class SequenceForm : std::uint8_t { kSeq, kFasta, kFastq };

// A feature's piece is its letters.
class SequenceWriter : public RowWriter {
 public:
  SequenceWriter(std::span<const Key> keys, std::vector<std::string> pieces, SequenceForm form)
      : RowWriter(keys), pieces_(std::move(pieces)), form_(form) {}

 protected:
  std::optional<Fault> write_row(const Batch& batch, std::size_t row, TextBuffer& out) override;

 private:
  std::optional<Fault> write_front(const Batch& batch, std::size_t row, TextBuffer& out) const;

  std::vector<std::string> pieces_;
  SequenceForm form_;
};

}  // namespace fsstream

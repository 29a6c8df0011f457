// The spool: batches as compact bytes, for streams that must be read again.
//
// Rows are cut anew into chunks by their number, entries and text, so that chunks (and every
// shuffle made of them) depend on the rows alone, never on the blocks they were parsed from.
// A chunk is:
//
//   rows, entries                    varints
//   naming, k-mer length, forms      a byte each: how keys, values, label values, weights are kept
//   sources                          count; of each: first row, line of that row, name
//   row sizes, label sizes, lines    varints; lines as differences
//   label values, weights            unless they follow from their form
//   keys (4 or 8 bytes), values      values: none when all are 1, a byte when all are small counts
//   name sizes                       varints; only with names
//   texts                            of each row: the names of its entries, then its label
//
// What is not kept: targets (labels are resolved again), vw tags, bad records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

// Where rows came from: a run of them from one source.
struct RowOrigin {
  std::size_t row;     // the first of the run
  std::uint64_t line;  // of that row's record
  std::string source;
};

struct ChunkLimits {
  std::size_t rows = std::size_t{1} << 15;
  std::size_t entries = std::size_t{1} << 16;
  std::size_t text = std::size_t{1} << 20;  // bytes of names and labels
};

class SpoolEncoder {
 public:
  using Sink = std::function<void(Buffer<char> chunk)>;

  explicit SpoolEncoder(ChunkLimits limits) : limits_(limits) { stage_.start({}, nullptr); }

  // Takes all rows of a batch, whose text begins at line `first_line` of its source; gives every
  // chunk that was completed to `sink`.
  void add(const Batch& batch, std::uint64_t first_line, const Sink& sink);

  // Gives what is left, if anything is.
  void finish(const Sink& sink);

 private:
  bool full() const;
  void note_origin(const std::string& source, std::uint64_t line);

  ChunkLimits limits_;
  Batch stage_;
  std::vector<RowOrigin> origins_;
  Buffer<std::uint64_t> line_steps_;  // from the row before, of the same run
  std::uint64_t last_line_ = 0;
};

// Fills `batch` with the rows of a chunk; its texts stay where they are in `chunk`, which `owner`
// keeps alive. Throws CorruptData, and leaves an empty batch, when the chunk is not sound.
void decode_chunk(std::string_view chunk, std::shared_ptr<const void> owner, Batch& batch);

// Bytes that a chunk takes once it is decoded, its own included.
std::size_t decoded_size(std::string_view chunk);

// The source and line of one row of a chunk, for messages.
RowOrigin origin_of(std::string_view chunk, std::size_t row);

}  // namespace fsstream

// fastq: records of four lines, `@id`, sequence, `+`, quality of equal length; one row a record.
//
// Where a record ends does not depend on whether it is good: a line with `@` takes three more
// with it, any other line where a header should stand is a bad record of its own. So a lost
// line costs a few records, not the rest of the file, and blocks are cut alike everywhere.
// Blank lines between records are skipped.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "parse/header_labels.hpp"
#include "parse/kmers.hpp"
#include "parse/lines.hpp"

namespace fsstream {

// The lines of one record; fewer than four when it is cut short or begins without `@`.
struct FastqRecord {
  std::array<Line, 4> lines;
  std::size_t size = 0;

  const Line& header() const { return lines[0]; }
  const Line& sequence() const { return lines[1]; }
  const Line& plus() const { return lines[2]; }
  const Line& quality() const { return lines[3]; }
  const Line& last() const { return lines[size - 1]; }
  bool has_header() const { return header().size() != 0 && *header().begin == '@'; }
};

// The record at `p`, which must lie before `text_end`.
FastqRecord fastq_record_at(const char* p, const char* text_end);

// What is wrong with its form; the letters of the sequence are not looked at.
Verdict check_form(const FastqRecord& record);

class FastqParser final : public Parser {
 public:
  FastqParser(int kmer, bool canonical, const HeaderLabels::Table& labels) : kmers_(kmer, canonical), labels_(labels) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_record(Batch& batch, const FastqRecord& record);

  KmerCounter kmers_;
  HeaderLabels labels_;
};

// The whole records at the front of `text`, `most` at most.
Taken take_fastq(std::string_view text, std::size_t most);

}  // namespace fsstream

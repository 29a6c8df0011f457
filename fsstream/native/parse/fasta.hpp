// fasta: a record is a `>` line and the lines up to the next one; one row a record. The lines
// are one sequence: windows run on over their ends. Blank lines are skipped.
#pragma once

#include <cstddef>
#include <string_view>

#include "parse/header_labels.hpp"
#include "parse/kmers.hpp"
#include "parse/lines.hpp"

namespace fsstream {

class FastaParser final : public Parser {
 public:
  FastaParser(int kmer, bool canonical, const HeaderLabels::Table& labels) : kmers_(kmer, canonical), labels_(labels) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_record(Batch& batch, const char* begin, const char* end);

  KmerCounter kmers_;
  HeaderLabels labels_;
};

// Bytes of `text` up to its last `>` that begins a line: whole records. 0: it holds one at most.
std::size_t fasta_head(std::string_view text);

// The whole records at the front of `text`, `most` at most.
Taken take_fasta(std::string_view text, std::size_t most);

}  // namespace fsstream

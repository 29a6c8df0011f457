// seq: `label<TAB>DNA`, one row a line. A line that begins with the tab has no label; blank
// lines are skipped.
#pragma once

#include "parse/fields.hpp"
#include "parse/kmers.hpp"

namespace fsstream {

class SeqParser final : public Parser {
 public:
  SeqParser(int kmer, bool canonical) : kmers_(kmer, canonical) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);

  KmerCounter kmers_;
};

}  // namespace fsstream

// Libsvm text: `label[,label] [qid:n] index:value ... # comment`.
#pragma once

#include "parse/numbered.hpp"

namespace fsstream {

class LibsvmParser final : public Parser {
 public:
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);

  NumberedEntries entries_{0, true, "an index is a number; for names use --format pairs"};
};

}  // namespace fsstream

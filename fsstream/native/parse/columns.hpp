// Columns text: a feature a line, `name sample:value ...`, samples counted from 1.
#pragma once

#include "parse/numbered.hpp"

namespace fsstream {

class ColumnsParser final : public Parser {
 public:
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);

  NumberedEntries entries_{1, false, "a sample is the number of its line in --targets, from 1"};
};

}  // namespace fsstream

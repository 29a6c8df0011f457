// Pairs text: `label name:value ...`; the value follows the last colon of its field.
#pragma once

#include "parse/fields.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class PairsParser final : public Parser {
 public:
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);

  RowMerge merge_;
};

}  // namespace fsstream

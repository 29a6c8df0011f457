// Parser: text of whole records -> Batch. One per format; options are fixed at construction.
//
// A parser holds no state between calls but scratch memory, so any thread may parse any
// Block with its own parser and the rows do not depend on how the stream was cut.
#pragma once

#include "core/batch.hpp"

namespace fsstream {

class Parser {
 public:
  virtual ~Parser() = default;
  Parser() = default;
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Appends the rows of batch.text (see Batch::start) and the faults of bad records.
  // A bad record leaves no entries; with `skip_bad` parsing goes on behind it, else it
  // is the last thing in the batch.
  virtual void parse(Batch& batch, bool skip_bad) = 0;
};

}  // namespace fsstream

// A parser whose rows are scaled to unit length (`--normalize l2`).
#pragma once

#include "parse/parser.hpp"

namespace fsstream {

class NormalizedParser final : public Parser {
 public:
  // `parser` must outlive this.
  explicit NormalizedParser(Parser& parser) : parser_(parser) {}

  void parse(Batch& batch, bool skip_bad) override {
    parser_.parse(batch, skip_bad);
    batch.normalize_l2();
  }

 private:
  Parser& parser_;
};

}  // namespace fsstream

// Tokens text: `label token token ...`; each occurrence counts 1.
//
// With n-grams, the runs of up to `longest` words that begin at a word follow it, shortest
// first; they are named by their words with single spaces between.
#pragma once

#include "parse/fields.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class NamedRow;

class TokensParser final : public Parser {
 public:
  static constexpr std::size_t kLongestRun = 16;

  // Throws std::invalid_argument unless 1 <= longest <= kLongestRun.
  explicit TokensParser(std::size_t longest);
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Verdict read_line(Batch& batch, const char* begin, const char* end);
  Verdict add_words(Batch& batch, NamedRow& row, const char* p, const char* end);
  Verdict add_all_runs(Batch& batch, NamedRow& row, const char* p, const char* end);
  Verdict read_words(const char* p, const char* end);
  Verdict add_runs(Batch& batch, NamedRow& row, std::size_t first);

  std::size_t longest_;
  Buffer<std::string_view> words_;  // of the line
  RowMerge merge_;
};

}  // namespace fsstream

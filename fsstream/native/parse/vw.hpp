// Vowpal Wabbit text: `label [weight] ['tag]|ns[:w] name[:value] ... |ns2 ...`.
//
// A feature is named `ns^name`, or `name` in the empty namespace; its value (1 unless given)
// is multiplied by the namespace's weight.
#pragma once

#include <string>

#include "parse/fields.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class NamedRow;

struct VwNamespace {
  std::string_view name;
  float weight = 1;
};

class VwParser final : public Parser {
 public:
  void parse(Batch& batch, bool skip_bad) override;

 private:
  // What stands before the first bar.
  struct Front {
    std::string_view label;
    std::string_view tag;
    float weight = 1;
  };

  Verdict read_line(Batch& batch, const char* begin, const char* end);
  Verdict read_front(const char* p, const char* bar, Front& front);
  Verdict read_plain(NamedRow& row, const VwNamespace& space, const char*& p, const char* end);
  Verdict read_namespace(Batch& batch, NamedRow& row, const char*& p, const char* end);

  RowMerge merge_;
  std::string front_;  // of names in the namespace at hand: `ns^`, and bytes that may be read with it
};

}  // namespace fsstream

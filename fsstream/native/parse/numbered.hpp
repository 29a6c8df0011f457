// Entries `index:value ...` with numbers for names: what libsvm and columns share.
#pragma once

#include "parse/fields.hpp"
#include "parse/row_merge.hpp"

namespace fsstream {

class NumberedEntries {
 public:
  // `lowest`: the smallest index; `comments`: '#' ends the line; `hint`: for an index that is none.
  NumberedEntries(std::uint64_t lowest, bool comments, const char* hint)
      : lowest_(lowest), comments_(comments), hint_(hint) {}

  // Appends the entries of [p, end), blanks skipped before p, to the row that was begun.
  Verdict read(Batch& batch, const char* p, const char* end);

 private:
  bool ends_entry(const char* p, const char* end) const { return p == end || is_blank(*p) || ends_line(p, end); }
  bool ends_line(const char* p, const char* end) const { return p == end || (comments_ && *p == '#'); }
  Verdict read_entry(const char*& p, const char* end, std::uint64_t& index, float& value) const;
  Verdict bad_index(const char* p, const char* end) const;

  RowMerge merge_;
  unsigned unlike_ = 0;  // for so many rows nothing is expected of reading many entries at once
  std::uint64_t lowest_;
  bool comments_;
  const char* hint_;
};

}  // namespace fsstream

// NameFilter: drops the features that are not wanted from parsed rows (`--keep`, `--ignore`).
//
// A feature stays when its whole name matches one of the patterns to keep (or there are none)
// and none of those to ignore.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "parse/glob.hpp"
#include "parse/parser.hpp"

namespace fsstream {

class NameFilter {
 public:
  NameFilter(const std::vector<std::string>& keep, const std::vector<std::string>& ignore);

  bool wants(std::string_view name) const;

  // Drops entries; rows stay, were they left empty.
  void drop_entries(Batch& batch);
  // Where a row is a feature (columns) and its label is the name: drops rows.
  void drop_rows(Batch& batch) const;

 private:
  std::vector<Glob> keep_;
  std::vector<Glob> ignore_;
  std::string scratch_;
};

// A parser whose rows pass through a filter.
class FilteredParser final : public Parser {
 public:
  // `parser` must outlive this; `rows_are_features` as in columns.
  FilteredParser(Parser& parser, NameFilter filter, bool rows_are_features)
      : parser_(parser), filter_(std::move(filter)), rows_are_features_(rows_are_features) {}
  void parse(Batch& batch, bool skip_bad) override;

 private:
  Parser& parser_;
  NameFilter filter_;
  bool rows_are_features_;
};

}  // namespace fsstream

// HeaderLabels: which label a FASTA or FASTQ record has.
//
// In this order: the table's label of the record's id (the first word of its header), the
// table's label of the source (its name as given, then without its folder), the header's
// word `label=...`. None of them: no label, which is what prediction expects.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/batch.hpp"

namespace fsstream {

struct RecordLabel {
  TextRef text;
  double value;  // NaN when the label is no number
};

// The value of the header's first word `label=...`, or nothing.
std::string_view header_label(std::string_view header);

class HeaderLabels {
 public:
  using Table = std::vector<std::pair<std::string, std::string>>;

  explicit HeaderLabels(const Table& table);

  // Looks up the batch's source; before its first record.
  void start(Batch& batch);

  // `header` is the line behind its `>` or `@`.
  RecordLabel find(Batch& batch, std::string_view header) const;

 private:
  struct Entry {
    std::string text;
    double value;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const Entry* entry(std::string_view name) const;

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> table_;
  RecordLabel source_label_{};
};

}  // namespace fsstream

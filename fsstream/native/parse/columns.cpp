#include "parse/columns.hpp"

#include <limits>

namespace fsstream {

Verdict ColumnsParser::read_line(Batch& batch, const char* begin, const char* end) {
  const char* const name = skip_blanks(begin, end);
  if (name == end) return {};
  const char* const name_end = field_end(name, end);
  if (name_end - name > static_cast<std::ptrdiff_t>(kLongestName)) return {name, kLongName};
  const Verdict verdict = entries_.read(batch, skip_blanks(name_end, end), end);
  if (verdict.good())
    batch.end_row(ref_to(batch, name, name_end), std::numeric_limits<double>::quiet_NaN(), 1.0F,
                  static_cast<std::uint32_t>(begin - batch.text));
  return verdict;
}

void ColumnsParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kDecimal;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 4 + 1);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

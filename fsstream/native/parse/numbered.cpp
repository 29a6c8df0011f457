#include "parse/numbered.hpp"

#include "parse/number.hpp"

namespace fsstream {

namespace {

constexpr const char* kEntry = "index:value";

Verdict bad_value(const char* p, const char* end) {
  const NotNumber why = why_no_number(p, end);
  return {why.at, {kEntry, why.hint}};
}

}  // namespace

Verdict NumberedEntries::bad_index(const char* p, const char* end) const {
  const NotNumber why = why_no_index(p, end);
  return {why.at, {kEntry, why.hint == nullptr ? hint_ : why.hint}};
}

Verdict NumberedEntries::read(Batch& batch, const char* p, const char* end) {
  const char* const first = p;
  const std::size_t row_begin = batch.keys.size();
  Key* const keys = batch.keys.data();
  float* const values = batch.values.data();
  std::size_t count = row_begin;
  bool ascending = true;
  while (!ends_line(p, end)) {
    std::uint64_t index;
    const char* q = read_index(p, end, index);
    if (q == nullptr) return bad_index(p, end);
    if (q == end || *q != ':') return {q, {kEntry, hint_}};
    if (index < lowest_) return {p, {kEntry, "numbers begin at 1"}};
    const char* const value_begin = q + 1;
    q = read_number(value_begin, end, values[count]);
    if (q == nullptr) return bad_value(value_begin, end);
    if (!ends_entry(q, end)) return {q, {kEntry, nullptr}};
    ascending = ascending && (count == row_begin || index > keys[count - 1]);
    keys[count++] = index;
    p = skip_blanks(q, end);
  }
  batch.keys.set_size(count);
  batch.values.set_size(count);
  if (!ascending && !merge_.merge(batch)) return {first, kSum};
  return {};
}

}  // namespace fsstream

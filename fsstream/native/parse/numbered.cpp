#include "parse/numbered.hpp"

#include "parse/number.hpp"
#include "parse/plain_entries.hpp"

namespace fsstream {

namespace {

constexpr const char* kEntry = "index:value";
constexpr std::ptrdiff_t kShort = 96;  // bytes; where shorter rows end is not worth a look
constexpr unsigned kUnlike = 16;       // rows after one that was
constexpr const char* kFromOne = "numbers begin at 1";

Verdict bad_value(const char* p, const char* end) {
  const NotNumber why = why_no_number(p, end);
  return {why.at, {kEntry, why.hint == nullptr ? kDecimalHint : why.hint}};
}

}  // namespace

Verdict NumberedEntries::bad_index(const char* p, const char* end) const {
  const NotNumber why = why_no_index(p, end);
  return {why.at, {kEntry, why.hint == nullptr ? hint_ : why.hint}};
}

// Reads any entry and the blanks behind it.
Verdict NumberedEntries::read_entry(const char*& p, const char* end, std::uint64_t& index, float& value) const {
  const char* const colon = read_index(p, end, index);
  if (colon == nullptr) return bad_index(p, end);
  if (colon == end || *colon != ':') return {p, {kEntry, hint_}};
  if (index < lowest_) return {p, {kEntry, kFromOne}};
  const char* const stop = read_number(colon + 1, end, value);
  if (stop == nullptr) return bad_value(colon + 1, end);
  if (!ends_entry(stop, end)) return {stop, {kEntry, kDecimalHint}};
  p = skip_blanks(stop, end);
  return {};
}

Verdict NumberedEntries::read(Batch& batch, const char* p, const char* end) {
  const char* const first = p;
  const char* const last = batch.text_size < kPlainReach ? p : batch.text + batch.text_size - kPlainReach;
  EntryCursor at{p, batch.text, batch.keys.end(), batch.values.end(), lowest_, false, end - p < kShort || unlike_ != 0};
  const bool known = at.unlike;
  unlike_ -= unlike_ != 0 ? 1 : 0;
  while (true) {
    read_plain(at, last, lowest_);
    at.p = skip_blanks(at.p, end);
    if (ends_line(at.p, end)) break;
    std::uint64_t index;
    float value;
    const Verdict verdict = read_entry(at.p, end, index, value);
    if (!verdict.good()) return verdict;
    at.put(index, value);
    if (at.above == 0) {  // nothing is above the highest index: whether it comes again is not known
      at.descends = true;
      at.above = lowest_;
    }
  }
  if (at.unlike && !known) unlike_ = kUnlike;
  batch.keys.set_size(static_cast<std::size_t>(at.key - batch.keys.data()));
  batch.values.set_size(static_cast<std::size_t>(at.value - batch.values.data()));
  if (at.descends && !merge_.merge(batch)) return {first, kSum};
  return {};
}

}  // namespace fsstream

#include "parse/numbered.hpp"

#include "parse/byte_mask.hpp"
#include "parse/number.hpp"

namespace fsstream {

namespace {

constexpr const char* kEntry = "index:value";
constexpr const char* kFromOne = "numbers begin at 1";

Verdict bad_value(const char* p, const char* end) {
  const NotNumber why = why_no_number(p, end);
  return {why.at, {kEntry, why.hint}};
}

// Where the entries of a row go, and whether they ascend so far.
struct Cursor {
  const char* p;
  Key* key;
  float* value;
  std::uint64_t above;  // an ascending row goes on with this index or a higher one
  bool descends;

  void put(std::uint64_t index, float number) {
    *key++ = index;
    *value++ = number;
    descends |= index < above;
    above = index + 1;
  }
};

// Bytes that a step of read_plain may look at.
constexpr std::size_t kPlainReach = kWindow + 8;

// Reads entries `index:digits.digits` before `last`, none of the runs of digits longer than 8: nearly
// all there is. One look at the window finds the three ends of an entry at once, so that the next
// entry need not wait for the numbers of this one. Stops at what is not that.
Cursor read_plain(Cursor at, const char* last, std::uint64_t lowest) {
  const char* p = at.p;
  while (p < last) {
    const std::uint64_t ends = no_digits(p);
    const std::uint64_t from_point = ends & (ends - 1);
    const std::uint64_t from_stop = from_point & (from_point - 1);
    if (from_stop == 0) break;
    const auto colon = static_cast<std::uint64_t>(__builtin_ctzll(ends));
    const auto point = static_cast<std::uint64_t>(__builtin_ctzll(from_point));
    const auto stop = static_cast<std::uint64_t>(__builtin_ctzll(from_stop));
    const std::uint64_t wholes = point - colon - 1;
    const std::uint64_t fractions = stop - point - 1;
    if (((colon - 1) | (wholes - 1) | (fractions - 1)) > 7 || p[colon] != ':' || p[point] != '.') break;
    const char behind = p[stop];
    if (behind != ' ' && behind != '\n') break;

    const std::uint64_t index = swar::value_of_digits(swar::load(p), colon);
    const char* const whole = p + colon + 1;
    std::uint64_t digits = static_cast<std::uint64_t>(*whole - '0');
    if (wholes != 1) digits = swar::value_of_digits(swar::load(whole), wholes);
    digits = digits * kIntegerPowersOfTen[fractions] + swar::value_of_digits(swar::load(p + point + 1), fractions);
    float number;
    if (!narrow(static_cast<double>(static_cast<std::int64_t>(digits)) / kPowersOfTen[fractions], number) ||
        index < lowest)
      break;
    at.put(index, number);
    p += stop;
    if (behind != ' ') break;
    ++p;
  }
  at.p = p;
  return at;
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
  if (colon == end || *colon != ':') return {colon, {kEntry, hint_}};
  if (index < lowest_) return {p, {kEntry, kFromOne}};
  const char* const stop = read_number(colon + 1, end, value);
  if (stop == nullptr) return bad_value(colon + 1, end);
  if (!ends_entry(stop, end)) return {stop, {kEntry, nullptr}};
  p = skip_blanks(stop, end);
  return {};
}

Verdict NumberedEntries::read(Batch& batch, const char* p, const char* end) {
  const char* const first = p;
  const char* const last = batch.text_size < kPlainReach ? p : batch.text + batch.text_size - kPlainReach;
  Cursor at{p, batch.keys.end(), batch.values.end(), 0, false};
  while (true) {
    at = read_plain(at, last, lowest_);
    at.p = skip_blanks(at.p, end);
    if (ends_line(at.p, end)) break;
    std::uint64_t index;
    float value;
    const Verdict verdict = read_entry(at.p, end, index, value);
    if (!verdict.good()) return verdict;
    at.put(index, value);
    at.descends |= at.above == 0;  // nothing is above the highest index: whether it comes again is not known
  }
  batch.keys.set_size(static_cast<std::size_t>(at.key - batch.keys.data()));
  batch.values.set_size(static_cast<std::size_t>(at.value - batch.values.data()));
  if (at.descends && !merge_.merge(batch)) return {first, kSum};
  return {};
}

}  // namespace fsstream

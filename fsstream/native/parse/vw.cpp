#include "parse/vw.hpp"

#include <cmath>

#include "parse/label.hpp"
#include "parse/named_row.hpp"

namespace fsstream {

namespace {

constexpr const char* kFront = "label [weight] ['tag]|features";
constexpr const char* kFeature = "name or name:value";
constexpr const char* kNameRule = "names cannot hold ':' or '|', which part names from values and namespaces";
constexpr Fault kNoBar{"'|'", "features follow a bar: 'label |name name:value ...'"};
constexpr Fault kCostLabel{"a label", "labels with ':' (costs, bandits) are not supported"};
constexpr Fault kWeight{"a weight of the row", "it is a number, not below 0"};
constexpr Fault kBase{kFront, "an initial prediction other than 0 is not supported"};
constexpr Fault kTooMany{kFront, "at most label, weight, initial prediction and tag stand before the bar"};
constexpr Fault kNamespace{"a namespace", "'|name' or '|name:weight', or '| ' for none"};
constexpr Fault kBarInName{kFeature, "a bar begins a namespace and stands behind white space"};
constexpr Fault kScale{"values in the range of float32", "the weight of the namespace times the value leaves it"};

std::string_view text_between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// A name ends at white space, at the colon before its value, or wrongly at a bar.
const char* name_end(const char* p, const char* end) {
  while (p != end && !is_blank(*p) && *p != ':' && *p != '|') ++p;
  return p;
}

// Reads `:value` where it stands; p is moved behind it.
Verdict read_value(const char*& p, const char* end, float& value) {
  value = 1;
  if (p == end || *p != ':') return {};
  const char* const begin = p + 1;
  const char* const q = read_number(begin, end, value);
  if (q == nullptr) {
    const NotNumber why = why_no_number(begin, end);
    return {why.at, {kFeature, why.hint == nullptr ? kNameRule : why.hint}};
  }
  if (q != end && !is_blank(*q)) return {q, {kFeature, kNameRule}};
  p = q;
  return {};
}

// The feature's name: in the text, or behind its namespace in the arena.
TextRef full_name(Batch& batch, const VwNamespace& space, std::string_view name) {
  if (space.name.empty()) return ref_to(batch, name.data(), name.data() + name.size());
  const std::size_t before = space.name.size();
  const auto [ref, bytes] = room_in_arena(batch, before + 1 + name.size());
  std::memcpy(bytes, space.name.data(), before);
  bytes[before] = '^';
  std::memcpy(bytes + before + 1, name.data(), name.size());
  return ref;
}

// Reads one feature and the blanks behind it.
Verdict read_feature(Batch& batch, NamedRow& row, const VwNamespace& space, const char*& p, const char* end) {
  const char* const begin = p;
  p = name_end(p, end);
  if (p != end && *p == '|') return {p, kBarInName};
  if (p == begin) return {p, {kFeature, "a name has at least one letter"}};
  const std::string_view name = text_between(begin, p);
  if (space.name.size() + name.size() >= kLongestName) return {begin, kLongName};
  float value;
  const Verdict verdict = read_value(p, end, value);
  if (!verdict.good()) return verdict;
  value *= space.weight;
  if (!std::isfinite(value)) return {begin, kScale};
  const TextRef ref = full_name(batch, space, name);
  row.add(ref, batch.view(ref), value);
  p = skip_blanks(p, end);
  return {};
}

// Whether the next namespace begins so near that this one's features are few: to be read one by one.
bool ends_soon(const char* p, const char* end) {
  return end - p >= static_cast<std::ptrdiff_t>(kWindow) && equal_to(p, '|') != 0;
}

}  // namespace

// The words before the bar. As in Vowpal Wabbit the last one is a tag when it is quoted or
// touches the bar.
Verdict VwParser::read_front(const char* p, const char* bar, Front& front) {
  std::size_t count = 0;
  for (p = skip_blanks(p, bar); p != bar; ++count) {
    const char* const q = field_end(p, bar);
    const std::string_view word = text_between(p, q);
    const char* const next = skip_blanks(q, bar);
    float number;
    if (next == bar && (q == bar || *p == '\'')) {
      front.tag = word.substr(*p == '\'' ? 1 : 0);
    } else if (count == 0) {
      if (const std::size_t colon = word.find(':'); colon != word.npos) return {p + colon, kCostLabel};
      front.label = word;
    } else if (count == 1) {
      if (!is_number(word, front.weight) || front.weight < 0) return {p, kWeight};
    } else if (count == 2) {
      if (!is_number(word, number) || number != 0) return {p, kBase};
    } else {
      return {p, kTooMany};
    }
    p = next;
  }
  return {};
}

// Reads plain features and the blanks behind them.
Verdict VwParser::read_plain(NamedRow& row, const VwNamespace& space, const char*& p, const char* end) {
  if (space.name.size() + kLongestPlainName >= kLongestName || ends_soon(p, end)) return {};
  const std::size_t first = row.size();
  // They are read up to the line feed: beyond `end` where blanks were cut off before it.
  p = skip_blanks(std::min(row.add_plain(p, read_plain_features), end), end);
  if (row.size() == first) return {};
  const char* const beyond = space.weight == 1 ? nullptr : row.scale(space.weight, first);
  if (beyond != nullptr) return {beyond, kScale};
  if (space.name.empty()) return {};
  front_.assign(space.name).append("^").append(kPiece, '\0');
  row.put_behind({front_.data(), space.name.size() + 1}, first);
  return {};
}

// Reads from behind a bar to the next bar or the end.
Verdict VwParser::read_namespace(Batch& batch, NamedRow& row, const char*& p, const char* end) {
  VwNamespace space;
  const char* const begin = p;
  p = name_end(p, end);
  space.name = text_between(begin, p);
  if (p != end && (*p == '|' || (*p == ':' && p == begin))) return {p, kNamespace};
  const Verdict verdict = read_value(p, end, space.weight);
  if (!verdict.good()) return {verdict.at, {kNamespace.expected, verdict.fault.hint}};
  p = skip_blanks(p, end);
  while (p != end && *p != '|') {
    const Verdict plain = read_plain(row, space, p, end);
    if (!plain.good()) return plain;
    if (p == end || *p == '|') break;
    const Verdict feature = read_feature(batch, row, space, p, end);
    if (!feature.good()) return feature;
  }
  return {};
}

Verdict VwParser::read_line(Batch& batch, const char* begin, const char* end) {
  while (end != begin && is_blank(end[-1])) --end;
  if (end == begin) return {};
  const auto* bar = static_cast<const char*>(std::memchr(begin, '|', static_cast<std::size_t>(end - begin)));
  if (bar == nullptr) return {end, kNoBar};
  Front front;
  front.label = front.tag = text_between(begin, begin);
  Verdict verdict = read_front(begin, bar, front);
  NamedRow row(batch);
  for (const char* p = bar; p != end && verdict.good();) verdict = read_namespace(batch, row, ++p, end);
  if (!verdict.good()) return verdict;
  row.finish();
  if (!merge_.merge(batch)) return {bar, kSum};
  batch.tags.push_back(ref_to(batch, front.tag.data(), front.tag.data() + front.tag.size()));
  end_row(batch, begin, front.label, front.weight);
  return {};
}

void VwParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kText;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 2 + 1);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

#include "parse/jsonl.hpp"

#include <bit>
#include <limits>

#include "hash/identity.hpp"
#include "hash/mix.hpp"
#include "parse/byte_mask.hpp"
#include "parse/label.hpp"
#include "parse/lines.hpp"

namespace fsstream {

namespace {

constexpr Fault kNoObject{"an object", "each line is one object: {\"label\": 1, \"key\": ...}"};
constexpr Fault kBehind{"the end of the line", "one object a line"};
constexpr Fault kNoColon{"':'", "a key is followed by ':' and its value"};
constexpr Fault kNoComma{"',' or '}'", "members of an object are parted by commas"};
constexpr Fault kNoArrayComma{"',' or ']'", "the strings of an array are parted by commas"};
constexpr Fault kArray{"an array of strings",
                       "numbers that belong together are members of an object, which gives each a name"};
constexpr Fault kTwice{"a key that is new in its object", "the same key again would hide a value"};
constexpr Fault kLabel{"a string, number or boolean as label", "or null, or no such key: no label"};
constexpr int kManySurprises = 16;
constexpr Fault kTooDeep{"at most 64 objects within each other", "flatten what lies deeper"};

// The quote that ends a string of plain characters; nullptr where something else is met first.
[[gnu::always_inline]] inline const char* plain_string_end(const char* p, const char* wide) {
  std::uint32_t others = 0;
  for (; others == 0 && p < wide; p += std::countr_zero(others)) others = no_plain_characters(p);
  return others != 0 && *p == '"' ? p : nullptr;
}

// Bytes of the `true`, `false` or `null` at p, 0 at anything else; eight are readable.
[[gnu::always_inline]] inline std::size_t word_size(const char* p) {
  const auto begins = [p](std::string_view word) { return std::memcmp(p, word.data(), 4) == 0; };
  if (begins("true") || begins("null")) return 4;
  return begins("fals") && p[4] == 'e' ? 5 : 0;
}

}  // namespace

// The keys of the object at hand stand behind those of the member whose value it is.
Verdict JsonlParser::open(Record& record, const Member& of) {
  if (depth_ == kDeepest) return {record.json.p, kTooDeep};
  ++record.json.p;
  if (of.column == nullptr) {
    path_.resize(of.path().size());
    path_.push_back('.');
    levels_[depth_++] = {nullptr, nullptr, path_.size(), JsonColumns::kMost + ++objects_};
  } else {
    levels_[depth_++] = {of.column, &of.column->first, 0, of.column->id};
  }
  return {};
}

// A key for which there is no column: its path is spelled anew.
Verdict JsonlParser::name_strange_key(const char* at, std::string_view key, std::uint64_t hash, Member& member) {
  const Level& level = levels_[depth_ - 1];
  if (level.column == nullptr)
    path_.resize(level.path);
  else if (depth_ == 1)
    path_.clear();
  else
    path_.assign(level.column->name_text()).push_back('.');
  path_.append(key);
  const std::size_t size = path_.size();
  if (size > kLongestName) return {at, kLongName};
  if (!keys_.insert(hash)) return {at, kTwice};
  path_.append(kBehindPath);
  member = {nullptr, {path_.data(), size + 1}};
  return {};
}

// The column whose key stands at p, if that is expected. Members may be missing: what follows those is expected, too.
[[gnu::always_inline]] inline JsonColumn* JsonlParser::expected_at(const Level& level, const char* p,
                                                                   const char* end) const {
  JsonColumn* column = *level.next;
  for (int missing = 0; column != nullptr && !stands_at(*column, p, end); ++missing)
    column = missing == 2 ? nullptr : column->next;
  return column;
}

Verdict JsonlParser::read_key(Record& record, Member& member) {
  JsonCursor& json = record.json;
  Level& level = levels_[depth_ - 1];
  const char* const at = json.p;
  std::string_view key;
  const char* const stop = json.is_wide() && *at == '"' ? plain_string_end(at + 1, json.wide) : nullptr;
  if (stop != nullptr) {
    key = between(at + 1, stop);
    json.p = stop + 1;
  } else {
    const Verdict verdict = json.at_end() ? Verdict{json.p, kJsonCutShort} : read_json_string(json, scratch_, key);
    if (!verdict.good()) return verdict;
  }
  const std::uint64_t hash = mix64(murmur3_64(key) + level.object);
  JsonColumn* const column = level.column == nullptr ? nullptr : columns_.at(*level.column, key, hash);
  if (column == nullptr) {
    if (surprises_ < kManySurprises) ++surprises_;
    const Verdict named = name_strange_key(at, key, hash, member);
    if (!named.good()) return named;
  } else {
    if (column->record == records_) return {at, kTwice};
    const bool expected = *level.next == column;
    if (expected ? surprises_ > 0 : surprises_ < kManySurprises) surprises_ += expected ? -1 : 1;
    *level.next = column;
    column->record = records_;
    level.next = &column->next;
    member = {column, column->front()};
  }
  json.skip_space();
  if (!json.at(':')) return {json.p, json.at_end() ? kJsonCutShort : kNoColon};
  ++json.p;
  json.skip_space();
  return {};
}

[[gnu::always_inline]] inline void JsonlParser::add_value(Record& record, const Member& member, float value) {
  JsonColumn* const column = member.column;
  if (column == nullptr) {
    const TextRef name = record.row.compose(record.batch, member.path());
    record.row.add_number(key_of_name(member.path()), name, value);
    return;
  }
  if (column->named != batches_) [[unlikely]] {
    column->name = record.row.compose(record.batch, column->name_text());
    column->named = batches_;
  }
  record.row.add_number(column->number, column->name, value);
}

// A short number, a string of plain characters or a word of JSON's; returns what is behind it. Nothing, and nullptr, at
// any other.
[[gnu::always_inline]] inline const char* JsonlParser::add_plain_value(Record& record, const Member& member,
                                                                       const char* p) {
  std::string_view word;
  const char* behind;
  if (*p == '"') {
    const char* const stop = plain_string_end(p + 1, record.json.wide);
    if (stop == nullptr) return nullptr;
    word = between(p + 1, stop);
    behind = stop + 1;
  } else if (const std::size_t size = word_size(p); size != 0) {
    word = between(p, p + size);
    behind = p + size;
    if (*p == 'n') return behind;
  } else {
    float value;
    behind = read_short_json_number(p, record.json.end, value);
    if (behind != nullptr) add_value(record, member, value);
    return behind;
  }
  if (member.front.size() + word.size() > kLongestName) return nullptr;
  record.row.add_word(record.batch, member.front, word);
  return behind;
}

// Takes members as nearly all are, from a key on, one after the other: an expected key, and behind it a plain value.
// Ends in front of another key, in front of the value of `member`, or behind one.
JsonlParser::Place JsonlParser::read_plain_members(Record& record, Member& member) {
  JsonCursor& json = record.json;
  Level& level = levels_[depth_ - 1];
  if (level.column == nullptr || surprises_ == kManySurprises) return Place::kKey;
  while (json.is_wide()) {
    JsonColumn* const column = expected_at(level, json.p, json.end);
    if (column == nullptr || column->record == records_) return Place::kKey;
    const char* const colon = json.p + column->quoted.size();
    if (colon + 2 >= json.wide || *colon != ':') return Place::kKey;
    const char* const value = colon + (colon[1] == ' ' ? 2 : 1);
    column->record = records_;
    level.next = &column->next;
    member = {column, column->front()};
    json.p = value;
    const char* const behind = column->is_label ? nullptr : add_plain_value(record, member, value);
    if (behind == nullptr) return Place::kValue;
    json.p = behind;
    if (*behind != ',') return Place::kBehind;
    json.p += behind[1] == ' ' ? 2 : 1;
  }
  return Place::kKey;
}

Verdict JsonlParser::add_number(Record& record, const Member& member, std::string_view number) {
  float value;
  if (!is_number(number, value)) return {number.data(), {"a number", "it is beyond the range of 32-bit floats"}};
  add_value(record, member, value);
  return {};
}

// `at` is where the word's text ends, if it lies in the text.
Verdict JsonlParser::add_word(Record& record, const Member& member, const char* at, std::string_view word) {
  if (member.front.size() + word.size() > kLongestName) return {at, kLongName};
  const bool in_text = word.data() != scratch_.data() && record.json.is_wide();
  if (!in_text) word = {word_.assign(word).append(kPiece, '\0').data(), word.size()};
  record.row.add_word(record.batch, member.front, word);
  return {};
}

Verdict JsonlParser::read_scalar(Record& record, const Member& member) {
  JsonCursor& json = record.json;
  const char* const at = json.p;
  if (json.is_wide()) {
    if (const char* const behind = add_plain_value(record, member, at); behind != nullptr) {
      json.p = behind;
      return {};
    }
  }
  std::string_view out;
  JsonKind kind;
  const Verdict verdict = read_json_scalar(json, scratch_, out, kind);
  if (!verdict.good() || kind == JsonKind::kNull) return verdict;
  return kind == JsonKind::kNumber ? add_number(record, member, out) : add_word(record, member, at, out);
}

Verdict JsonlParser::read_label(Record& record) {
  JsonCursor& json = record.json;
  if (json.at('{') || json.at('[')) return {json.p, kLabel};
  std::string_view out;
  JsonKind kind;
  const Verdict verdict = read_json_scalar(json, scratch_, out, kind);
  if (!verdict.good() || kind == JsonKind::kNull) return verdict;
  const std::string_view text = trim(out);
  label_ = record.row.compose(record.batch, text);
  label_value_ = label_number(text);
  return {};
}

Verdict JsonlParser::read_tokens(Record& record, const Member& member) {
  JsonCursor& json = record.json;
  ++json.p;
  json.skip_space();
  for (bool first = true; !json.at(']'); first = false) {
    if (!first) {
      if (!json.at(',')) return {json.p, json.at_end() ? kJsonCutShort : kNoArrayComma};
      ++json.p;
      json.skip_space();
    }
    if (!json.at('"')) return {json.p, json.at_end() ? kJsonCutShort : kArray};
    const Verdict verdict = read_scalar(record, member);
    if (!verdict.good()) return verdict;
    json.skip_space();
  }
  ++json.p;
  return {};
}

Verdict JsonlParser::read_value(Record& record, const Member& member) {
  const bool is_label = member.column != nullptr ? member.column->is_label : member.path() == label_key_;
  if (is_label) return read_label(record);
  if (record.json.at('{')) return open(record, member);
  if (record.json.at('[')) return read_tokens(record, member);
  return read_scalar(record, member);
}

// From the opening brace to behind the closing one.
Verdict JsonlParser::read_object(Record& record) {
  JsonCursor& json = record.json;
  Member member{&columns_.root(), {}};
  Verdict verdict = open(record, member);
  for (bool first = true; depth_ != 0;) {
    json.skip_space();
    if (json.at('}')) {
      ++json.p;
      --depth_;
      first = false;
      continue;
    }
    if (!first) {
      if (!json.at(',')) return {json.p, json.at_end() ? kJsonCutShort : kNoComma};
      ++json.p;
      json.skip_space();
    }
    const Place place = read_plain_members(record, member);
    if (place == Place::kBehind) {
      first = false;
      continue;
    }
    json.skip_space();
    if (place == Place::kKey) {
      verdict = read_key(record, member);
      if (!verdict.good()) return verdict;
    }
    const std::size_t depth = depth_;
    verdict = read_value(record, member);
    if (!verdict.good()) return verdict;
    first = depth_ != depth;
  }
  return verdict;
}

Verdict JsonlParser::read_line(Batch& batch, const char* begin, const char* end) {
  // A window behind what begins before `wide` is readable, and a piece that is copied behind that.
  constexpr std::size_t kReach = 2 * kWindow;
  const char* const text_end = batch.text + batch.text_size;
  Record record{
      {begin, end, batch.text_size < kReach ? begin : text_end - kReach}, batch, ComposedRow(batch, waiting_)};
  JsonCursor& json = record.json;
  json.skip_space();
  if (json.at_end()) return {};
  if (!json.at('{')) return {json.p, kNoObject};
  Verdict verdict = check_utf8(begin, end);
  if (!verdict.good()) return verdict;

  ++records_;
  depth_ = objects_ = 0;
  keys_.clear();
  label_ = {};
  label_value_ = std::numeric_limits<double>::quiet_NaN();
  const char* const object = json.p;
  verdict = read_object(record);
  if (!verdict.good()) return verdict;
  json.skip_space();
  if (!json.at_end()) return {json.p, kBehind};
  record.row.finish(batch);
  if (!merge_.merge(batch)) return {object, kSum};
  batch.end_row(label_, label_value_, 1.0F, static_cast<std::uint32_t>(begin - batch.text));
  return {};
}

void JsonlParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kText;
  batch.reserve(0, batch.text_size / 3 + 1);  // `"",` in an array is an entry
  ++batches_;
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) {
    const Verdict verdict = read_line(batch, begin, end);
    if (!verdict.good()) ++batches_;  // the arena is cut back
    return verdict;
  });
}

}  // namespace fsstream

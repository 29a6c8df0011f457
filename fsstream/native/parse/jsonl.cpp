#include "parse/jsonl.hpp"

#include <limits>

#include "hash/identity.hpp"
#include "hash/mix.hpp"
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
constexpr Fault kTooDeep{"at most 64 objects within each other", "flatten what lies deeper"};

}  // namespace

// The next object's keys stand behind the path so far.
Verdict JsonlParser::open(JsonCursor& json) {
  if (depth_ == kDeepest) return {json.p, kTooDeep};
  ++json.p;
  if (depth_ != 0) path_.push_back('.');
  levels_[depth_++] = {path_.size(), ++objects_};
  return {};
}

Verdict JsonlParser::read_key(JsonCursor& json) {
  const Level& level = levels_[depth_ - 1];
  const char* const at = json.p;
  std::string_view key;
  const Verdict verdict = json.at_end() ? Verdict{json.p, kJsonCutShort} : read_json_string(json, scratch_, key);
  if (!verdict.good()) return verdict;
  path_.resize(level.path);
  path_.append(key);
  if (path_.size() > kLongestName) return {at, kLongName};
  if (!keys_.insert(mix64(murmur3_64(key) + level.object))) return {at, kTwice};
  json.skip_space();
  if (!json.at(':')) return {json.p, json.at_end() ? kJsonCutShort : kNoColon};
  ++json.p;
  json.skip_space();
  return {};
}

Verdict JsonlParser::add_number(Batch& batch, std::string_view number) {
  float value;
  if (!is_number(number, value)) return {number.data(), {"a number", "it is beyond the range of 32-bit floats"}};
  batch.keys.push_back(key_of_name(path_));
  batch.values.push_back(value);
  batch.names.push_back(batch.compose(path_));
  return {};
}

Verdict JsonlParser::add_word(Batch& batch, const char* at, std::string_view word) {
  if (path_.size() + 1 + word.size() > kLongestName) return {at, kLongName};
  path_.push_back('=');
  const TextRef name = batch.compose(path_, word);
  path_.pop_back();
  batch.keys.push_back(key_of_name(batch.view(name)));
  batch.values.push_back(1.0F);
  batch.names.push_back(name);
  return {};
}

Verdict JsonlParser::read_scalar(Batch& batch, JsonCursor& json) {
  const char* const at = json.p;
  std::string_view out;
  JsonKind kind;
  const Verdict verdict = read_json_scalar(json, scratch_, out, kind);
  if (!verdict.good() || kind == JsonKind::kNull) return verdict;
  return kind == JsonKind::kNumber ? add_number(batch, out) : add_word(batch, at, out);
}

Verdict JsonlParser::read_label(Batch& batch, JsonCursor& json) {
  if (json.at('{') || json.at('[')) return {json.p, kLabel};
  std::string_view out;
  JsonKind kind;
  const Verdict verdict = read_json_scalar(json, scratch_, out, kind);
  if (!verdict.good() || kind == JsonKind::kNull) return verdict;
  const std::string_view text = trim(out);
  label_ = batch.compose(text);
  label_value_ = label_number(text);
  return {};
}

Verdict JsonlParser::read_tokens(Batch& batch, JsonCursor& json) {
  ++json.p;
  json.skip_space();
  for (bool first = true; !json.at(']'); first = false) {
    if (!first) {
      if (!json.at(',')) return {json.p, json.at_end() ? kJsonCutShort : kNoArrayComma};
      ++json.p;
      json.skip_space();
    }
    if (!json.at('"')) return {json.p, json.at_end() ? kJsonCutShort : kArray};
    const Verdict verdict = read_scalar(batch, json);
    if (!verdict.good()) return verdict;
    json.skip_space();
  }
  ++json.p;
  return {};
}

Verdict JsonlParser::read_value(Batch& batch, JsonCursor& json) {
  if (path_ == label_key_) return read_label(batch, json);
  if (json.at('{')) return open(json);
  if (json.at('[')) return read_tokens(batch, json);
  return read_scalar(batch, json);
}

// From the opening brace to behind the closing one.
Verdict JsonlParser::read_object(Batch& batch, JsonCursor& json) {
  Verdict verdict = open(json);
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
    verdict = read_key(json);
    if (!verdict.good()) return verdict;
    const std::size_t depth = depth_;
    verdict = read_value(batch, json);
    if (!verdict.good()) return verdict;
    first = depth_ != depth;
  }
  return verdict;
}

Verdict JsonlParser::read_line(Batch& batch, const char* begin, const char* end) {
  JsonCursor json{begin, end};
  json.skip_space();
  if (json.at_end()) return {};
  if (!json.at('{')) return {json.p, kNoObject};
  Verdict verdict = check_utf8(begin, end);
  if (!verdict.good()) return verdict;

  depth_ = objects_ = 0;
  path_.clear();
  keys_.clear();
  label_ = {};
  label_value_ = std::numeric_limits<double>::quiet_NaN();
  const char* const object = json.p;
  verdict = read_object(batch, json);
  if (!verdict.good()) return verdict;
  json.skip_space();
  if (!json.at_end()) return {json.p, kBehind};
  if (!merge_.merge(batch)) return {object, kSum};
  batch.end_row(label_, label_value_, 1.0F, static_cast<std::uint32_t>(begin - batch.text));
  return {};
}

void JsonlParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kText;
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

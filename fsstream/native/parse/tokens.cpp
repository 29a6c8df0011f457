#include "parse/tokens.hpp"

#include <stdexcept>

#include "parse/label.hpp"
#include "parse/named_row.hpp"

namespace fsstream {

namespace {

// The text from one word to a later one names their run where single spaces part them.
bool spaced_singly(const std::string_view* words, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    const char* const gap = words[i - 1].data() + words[i - 1].size();
    if (words[i].data() != gap + 1 || *gap != ' ') return false;
  }
  return true;
}

// Spells the run in the arena.
TextRef compose_run(Batch& batch, const std::string_view* words, std::size_t count, std::size_t size) {
  auto [name, p] = room_in_arena(batch, size);
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) *p++ = ' ';
    std::memcpy(p, words[i].data(), words[i].size());
    p += words[i].size();
  }
  return name;
}

}  // namespace

TokensParser::TokensParser(std::size_t longest) : longest_(longest) {
  if (longest < 1 || longest > kLongestRun) throw std::invalid_argument("n-grams have 1 to 16 words");
}

Verdict TokensParser::read_words(const char* p, const char* end) {
  words_.clear();
  while (p != end) {
    const char* const q = field_end(p, end);
    if (q - p > static_cast<std::ptrdiff_t>(kLongestName)) return {p, kLongName};
    words_.push_back({p, static_cast<std::size_t>(q - p)});
    p = skip_blanks(q, end);
  }
  return {};
}

// Adds the word `first` and the longer runs that begin with it.
Verdict TokensParser::add_runs(Batch& batch, NamedRow& row, std::size_t first) {
  const std::string_view* const words = words_.data() + first;
  const std::size_t longest = std::min(longest_, words_.size() - first);
  std::size_t size = words[0].size();
  for (std::size_t count = 1; count <= longest; ++count) {
    if (count > 1) size += 1 + words[count - 1].size();
    if (size > kLongestName) return {words[0].data(), kLongName};
    const char* const begin = words[0].data();
    const TextRef name =
        spaced_singly(words, count) ? ref_to(batch, begin, begin + size) : compose_run(batch, words, count, size);
    row.add(name, batch.view(name), 1.0F);
  }
  return {};
}

Verdict TokensParser::add_words(Batch& batch, NamedRow& row, const char* p, const char* end) {
  while (true) {
    p = skip_blanks(row.add_plain(p, read_plain_words), end);
    if (p == end) return {};
    const char* const q = field_end(p, end);
    if (q - p > static_cast<std::ptrdiff_t>(kLongestName)) return {p, kLongName};
    row.add(ref_to(batch, p, q), {p, static_cast<std::size_t>(q - p)}, 1.0F);
    p = q;
  }
}

Verdict TokensParser::add_all_runs(Batch& batch, NamedRow& row, const char* p, const char* end) {
  Verdict verdict = read_words(p, end);
  row.make_room(words_.size() * longest_);
  for (std::size_t i = 0; i < words_.size() && verdict.good(); ++i) verdict = add_runs(batch, row, i);
  return verdict;
}

Verdict TokensParser::read_line(Batch& batch, const char* begin, const char* end) {
  const char* const label = skip_blanks(begin, end);
  if (label == end) return {};
  const char* const label_end = field_end(label, end);
  const char* const first = skip_blanks(label_end, end);
  NamedRow row(batch);
  const Verdict verdict = longest_ == 1 ? add_words(batch, row, first, end) : add_all_runs(batch, row, first, end);
  if (!verdict.good()) return verdict;
  row.finish();
  if (!merge_.merge(batch)) return {first, kSum};
  end_row(batch, begin, {label, static_cast<std::size_t>(label_end - label)});
  return {};
}

void TokensParser::parse(Batch& batch, bool skip_bad) {
  batch.naming = Naming::kText;
  batch.reserve(batch.text_size / 2 + 1, batch.text_size / 2 + 1);
  for_each_line(batch, skip_bad, [&](const char* begin, const char* end) { return read_line(batch, begin, end); });
}

}  // namespace fsstream

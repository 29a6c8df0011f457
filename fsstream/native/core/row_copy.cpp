#include "core/row_copy.hpp"

#include <cstring>

namespace fsstream {

namespace {

TextRef copy_text(const Batch& from, TextRef ref, Batch& to) {
  return ref.length == 0 ? TextRef{} : to.compose(from.view(ref));
}

constexpr std::size_t kWord = 16;

// Most names are short: one load and store of 16 bytes, where both sides have them, beats a call.
// The bytes too many are overwritten by the next name or lie behind the end.
void copy_name(std::string_view name, const char* source_end, char* to) {
  if (name.size() <= kWord && static_cast<std::size_t>(source_end - name.data()) >= kWord)
    std::memcpy(to, name.data(), kWord);
  else if (!name.empty())
    std::memcpy(to, name.data(), name.size());
}

// Room is made once a row, so that the loop may write unchecked.
void append_names(const Batch& from, std::size_t begin, std::size_t end, Batch& to) {
  std::size_t bytes = 0;
  for (std::size_t j = begin; j < end; ++j) bytes += from.names[j].length;
  const std::size_t place = to.arena.size();
  if (place + bytes >= TextRef::kArena) Batch::throw_arena_full();
  to.arena.make_room(bytes + kWord);
  to.names.make_room(end - begin);
  char* at = to.arena.data() + place;
  TextRef* refs = to.names.end();
  for (std::size_t j = begin; j < end; ++j) {
    const bool composed = (from.names[j].offset & TextRef::kArena) != 0;
    const std::string_view name = from.view(from.names[j]);
    copy_name(name, composed ? from.arena.end() : from.text + from.text_size, at);
    *refs++ = {static_cast<std::uint32_t>(at - to.arena.data()) | TextRef::kArena,
               static_cast<std::uint32_t>(name.size())};
    at += name.size();
  }
  to.arena.set_size(place + bytes);
  to.names.set_size(to.names.size() + end - begin);
}

}  // namespace

bool same_naming(const Batch& from, const Batch& to) {
  return from.naming == to.naming && from.kmer_length == to.kmer_length;
}

void append_entries(const Batch& from, std::size_t begin, std::size_t end, Batch& to) {
  to.keys.append(from.keys.data() + begin, end - begin);
  to.values.append(from.values.data() + begin, end - begin);
  if (from.naming == Naming::kText) append_names(from, begin, end, to);
}

Batch copy_of(const Batch& from) {
  Batch to;
  to.start({from.text, from.text_size}, from.text_owner);
  const auto append = [](const auto& source, auto& copy) { copy.append(source.data(), source.size()); };
  to.row_starts.clear();
  append(from.row_starts, to.row_starts);
  append(from.labels, to.labels);
  append(from.label_values, to.label_values);
  append(from.targets, to.targets);
  append(from.importance, to.importance);
  append(from.records, to.records);
  append(from.tags, to.tags);
  append(from.keys, to.keys);
  append(from.values, to.values);
  append(from.names, to.names);
  append(from.arena, to.arena);
  to.skipped_windows = from.skipped_windows;
  to.naming = from.naming;
  to.kmer_length = from.kmer_length;
  to.source = from.source;
  to.starts_source = from.starts_source;
  return to;
}

void append_row(const Batch& from, std::size_t row, Batch& to) {
  if (to.rows() == 0) {
    to.naming = from.naming;
    to.kmer_length = from.kmer_length;
  }
  append_entries(from, from.row_begin(row), from.row_end(row), to);
  to.end_row(copy_text(from, from.labels[row], to), from.label_values[row], from.importance[row], 0);
  to.targets.back() = from.targets[row];
}

}  // namespace fsstream

#include "core/batch.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "core/errors.hpp"
#include "core/resident_memory.hpp"

namespace fsstream {

void append_kmer(Key key, int length, std::string& out) {
  for (int shift = 2 * (length - 1); shift >= 0; shift -= 2) out.push_back("ACGT"[(key >> shift) & 3]);
}

std::string_view Batch::name(std::size_t j, std::string& scratch) const {
  if (naming == Naming::kText) return view(names[j]);
  scratch.clear();
  if (naming == Naming::kKmer) {
    append_kmer(keys[j], kmer_length, scratch);
  } else {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, keys[j]).ptr;
    scratch.assign(digits, end);
  }
  return scratch;
}

void Batch::start(std::string_view from, std::shared_ptr<const void> owner) {
  row_starts.clear();
  row_starts.push_back(0);
  labels.clear();
  label_values.clear();
  targets.clear();
  importance.clear();
  records.clear();
  tags.clear();
  keys.clear();
  values.clear();
  names.clear();
  arena.clear();
  bad.clear();
  remarks.clear();
  skipped_windows = 0;
  collisions = 0;
  asked_ = asked_rows_ = 0;
  text = from.data();
  text_size = from.size();
  text_owner = std::move(owner);
  source.clear();
  starts_source = true;
}

// Asks for the lines that the next entries and rows will be written to. The other core read them last: parsing would
// wait for each (half of its time, where the two share no cache).
void Batch::ask_for_room() {
  constexpr std::size_t kAtOnce = 64;
  constexpr std::size_t kMost = 2048;
  const std::size_t row = row_end(rows() - 1) - row_begin(rows() - 1);
  const std::size_t first = std::max(asked_, keys.size());
  asked_ = keys.size() + kAhead + std::clamp(row, kAtOnce, kMost);
  keys.ask_to_write(first, asked_);
  values.ask_to_write(first, asked_);
  if (naming == Naming::kText) names.ask_to_write(first, asked_);
  const std::size_t first_row = std::max(asked_rows_, rows());
  asked_rows_ = rows() + rows() * (asked_ - keys.size()) / (keys.size() + 1) + 1;
  const auto ask_for_rows = [&](auto&... columns) { (columns.ask_to_write(first_row, asked_rows_), ...); };
  ask_for_rows(row_starts, labels, label_values, targets, importance, records);
}

void Batch::reserve(std::size_t more_rows, std::size_t more_entries) {
  const std::size_t rows_needed = rows() + more_rows;
  const std::size_t entries_needed = entries() + more_entries;
  row_starts.reserve(rows_needed + 1);
  labels.reserve(rows_needed);
  label_values.reserve(rows_needed);
  targets.reserve(rows_needed);
  importance.reserve(rows_needed);
  records.reserve(rows_needed);
  keys.reserve(entries_needed);
  values.reserve(entries_needed);
  if (naming == Naming::kText) names.reserve(entries_needed);
}

void Batch::normalize_l2() {
  for (std::size_t row = 0; row < rows(); ++row) {
    double squares = 0;
    for (std::size_t j = row_begin(row); j < row_end(row); ++j) squares += static_cast<double>(values[j]) * values[j];
    if (squares == 0) continue;
    const double scale = 1 / std::sqrt(squares);
    for (std::size_t j = row_begin(row); j < row_end(row); ++j) values[j] = static_cast<float>(values[j] * scale);
  }
}

void Batch::throw_arena_full() {
  throw LimitExceeded("the composed names of one block exceed 2 GiB\nshorter names of columns or namespaces help");
}

void Batch::allow_arena(std::size_t more) {
  constexpr std::size_t kLargest = std::size_t{1} << 30, kSmall = std::size_t{4} << 20;
  const std::size_t used = arena.size(), before = arena.capacity();
  if (more > kLargest - used)
    throw LimitExceeded("the composed names of one block take over 1 GiB\nuse shorter n-grams or namespaces");
  const std::size_t wanted = std::max(used + more, 2 * before);
  if (most_resident != 0 && wanted > kSmall && resident_memory() + (wanted - before) > most_resident)
    throw LimitExceeded(
        "the composed names of one block take " + std::to_string(wanted >> 20U) +
        " MB, which --memory does not leave\nraise --memory, lower --block-size, or use shorter n-grams or namespaces");
  arena.reserve(wanted);
}

}  // namespace fsstream

#include "core/spool.hpp"

#include <algorithm>
#include <cmath>

#include "core/bytes.hpp"
#include "core/lines.hpp"
#include "core/row_copy.hpp"

namespace fsstream {

namespace {

enum class Keys : std::uint8_t { kWide, kNarrow };
enum class Values : std::uint8_t { kOnes, kCounts, kFloats };
enum class LabelValues : std::uint8_t { kNone, kSmall, kDoubles };
enum class Weights : std::uint8_t { kOnes, kFloats };

struct ChunkHead {
  std::size_t rows;
  std::size_t entries;
  Naming naming;
  int kmer_length;
  Keys keys;
  Values values;
  LabelValues label_values;
  Weights weights;
};

bool is_small(double value) {
  return value >= -128 && value < 128 && value == static_cast<int>(value) && !(value == 0 && std::signbit(value));
}
bool is_count(float value) {
  return value >= 0 && value < 256 && value == static_cast<float>(static_cast<int>(value)) && !std::signbit(value);
}

template <class T, class Test>
bool all(const Buffer<T>& values, Test test) {
  return std::all_of(values.begin(), values.end(), test);
}

ChunkHead head_of(const Batch& batch) {
  ChunkHead head{batch.rows(), batch.entries(), batch.naming,          batch.kmer_length,
                 Keys::kWide,  Values::kFloats, LabelValues::kDoubles, Weights::kFloats};
  Key highest = 0;
  for (const Key key : batch.keys) highest |= key;
  if (highest >> 32 == 0) head.keys = Keys::kNarrow;
  if (all(batch.values, [](float value) { return value == 1.0F; }))
    head.values = Values::kOnes;
  else if (all(batch.values, is_count))
    head.values = Values::kCounts;
  if (all(batch.label_values, [](double value) { return std::isnan(value); }))
    head.label_values = LabelValues::kNone;
  else if (all(batch.label_values, is_small))
    head.label_values = LabelValues::kSmall;
  if (all(batch.importance, [](float weight) { return weight == 1.0F; })) head.weights = Weights::kOnes;
  return head;
}

void write_head(const ChunkHead& head, ByteWriter& out) {
  out.varint(head.rows);
  out.varint(head.entries);
  out.put(static_cast<std::uint8_t>(head.naming));
  out.put(static_cast<std::uint8_t>(head.kmer_length));
  out.put(static_cast<std::uint8_t>(head.keys));
  out.put(static_cast<std::uint8_t>(head.values));
  out.put(static_cast<std::uint8_t>(head.label_values));
  out.put(static_cast<std::uint8_t>(head.weights));
}

template <class Form>
Form read_form(ByteReader& in, Form last) {
  const auto form = in.get<std::uint8_t>();
  if (form > static_cast<std::uint8_t>(last)) throw CorruptData("there is no such form");
  return static_cast<Form>(form);
}

ChunkHead read_head(ByteReader& in) {
  ChunkHead head{};
  head.rows = in.varint();
  head.entries = in.varint();
  head.naming = read_form(in, Naming::kText);
  head.kmer_length = in.get<std::uint8_t>();
  if (head.kmer_length > 32) throw CorruptData("k-mers longer than 32 letters");
  head.keys = read_form(in, Keys::kNarrow);
  head.values = read_form(in, Values::kFloats);
  head.label_values = read_form(in, LabelValues::kDoubles);
  head.weights = read_form(in, Weights::kFloats);
  in.need(head.rows, 3);  // a row has three sizes of a byte or more
  in.need(head.entries, 4);
  return head;
}

template <class To, class From>
void write_as(const Buffer<From>& values, ByteWriter& out) {
  char* to = out.extend(values.size() * sizeof(To));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<To>(values[i]);
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}

template <class From, class To>
void read_as(ByteReader& in, std::size_t count, Buffer<To>& out) {
  in.need(count, sizeof(From));
  const char* from = in.bytes(count * sizeof(From)).data();
  out.reserve(count);
  To* to = out.data();
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
  out.set_size(count);
}

template <class T>
void fill(Buffer<T>& out, std::size_t count, T value) {
  out.reserve(count);
  std::fill_n(out.data(), count, value);
  out.set_size(count);
}

// Refs of the given length, their place still to be found.
void read_sizes(ByteReader& in, std::size_t count, Buffer<TextRef>& refs) {
  refs.reserve(count);
  TextRef* to = refs.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = in.varint();
    if (size >= TextRef::kArena) throw CorruptData("a text of 2 GiB");
    to[i] = {0, static_cast<std::uint32_t>(size)};
  }
  refs.set_size(count);
}

// Texts lie one after the other from here on: of each row, the names, then the label.
void place_texts(std::string_view chunk, ByteReader& in, Batch& batch) {
  auto at = static_cast<std::uint64_t>(in.position() - chunk.data());
  const std::uint64_t begin = at;
  const auto place = [&at](TextRef& ref) {
    ref.offset = static_cast<std::uint32_t>(at);
    at += ref.length;
  };
  for (std::size_t r = 0; r < batch.labels.size(); ++r) {
    if (!batch.names.empty())
      for (std::size_t j = batch.row_begin(r); j < batch.row_end(r); ++j) place(batch.names[j]);
    place(batch.labels[r]);
  }
  in.bytes(at - begin);
}

// The texts of `batch` must lie in its arena as append_row puts them there.
Buffer<char> encode(const Batch& batch, const std::vector<RowOrigin>& origins,
                    const Buffer<std::uint64_t>& line_steps) {
  ByteWriter out;
  const ChunkHead head = head_of(batch);
  write_head(head, out);
  out.varint(origins.size());
  for (const RowOrigin& origin : origins) {
    out.varint(origin.row);
    out.varint(origin.line);
    out.varint(origin.source.size());
    out.array(origin.source.data(), origin.source.size());
  }
  out.varints(head.rows, [&](std::size_t r) { return batch.row_end(r) - batch.row_begin(r); });
  out.varints(head.rows, [&](std::size_t r) { return batch.labels[r].length; });
  out.varints(head.rows, [&](std::size_t r) { return line_steps[r]; });
  if (head.label_values == LabelValues::kSmall) write_as<std::int8_t>(batch.label_values, out);
  if (head.label_values == LabelValues::kDoubles) out.array(batch.label_values.data(), head.rows);
  if (head.weights == Weights::kFloats) out.array(batch.importance.data(), head.rows);
  if (head.keys == Keys::kNarrow) write_as<std::uint32_t>(batch.keys, out);
  if (head.keys == Keys::kWide) out.array(batch.keys.data(), head.entries);
  if (head.values == Values::kCounts) write_as<std::uint8_t>(batch.values, out);
  if (head.values == Values::kFloats) out.array(batch.values.data(), head.entries);
  out.varints(batch.names.size(), [&](std::size_t j) { return batch.names[j].length; });
  out.array(batch.arena.data(), batch.arena.size());
  return out.take();
}

std::vector<RowOrigin> read_origins(ByteReader& in, std::size_t rows) {
  const std::uint64_t count = in.varint();
  in.need(count, 3);
  std::vector<RowOrigin> origins;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t row = in.varint();
    const std::uint64_t line = in.varint();
    const std::uint64_t size = in.varint();
    if (row >= rows || (!origins.empty() && row < origins.back().row)) throw CorruptData("sources out of order");
    origins.push_back({row, line, std::string(in.bytes(size))});
  }
  return origins;
}

void read_row_starts(ByteReader& in, const ChunkHead& head, Batch& batch) {
  batch.row_starts.reserve(head.rows + 1);
  std::uint64_t total = 0;
  for (std::size_t r = 0; r < head.rows; ++r) {
    const std::uint64_t size = in.varint();
    if (size > head.entries - total) throw CorruptData("rows that hold more entries than there are");
    total += size;
    batch.row_starts.push_back(total);
  }
  if (total != head.entries) throw CorruptData("entries that belong to no row");
}

void read_label_values(ByteReader& in, const ChunkHead& head, Batch& batch) {
  switch (head.label_values) {
    case LabelValues::kNone:
      return fill(batch.label_values, head.rows, std::numeric_limits<double>::quiet_NaN());
    case LabelValues::kSmall:
      return read_as<std::int8_t>(in, head.rows, batch.label_values);
    case LabelValues::kDoubles:
      return read_as<double>(in, head.rows, batch.label_values);
  }
}

void read_values(ByteReader& in, const ChunkHead& head, Batch& batch) {
  switch (head.values) {
    case Values::kOnes:
      return fill(batch.values, head.entries, 1.0F);
    case Values::kCounts:
      return read_as<std::uint8_t>(in, head.entries, batch.values);
    case Values::kFloats:
      return read_as<float>(in, head.entries, batch.values);
  }
}

void decode(std::string_view chunk, Batch& batch) {
  if (chunk.size() >= TextRef::kArena) throw CorruptData("a chunk of 2 GiB");
  ByteReader in(chunk);
  const ChunkHead head = read_head(in);
  batch.naming = head.naming;
  batch.kmer_length = head.kmer_length;
  const std::vector<RowOrigin> origins = read_origins(in, head.rows);
  if (!origins.empty()) batch.source = origins.front().source;
  read_row_starts(in, head, batch);
  read_sizes(in, head.rows, batch.labels);
  for (std::size_t r = 0; r < head.rows; ++r) in.varint();  // the lines
  read_label_values(in, head, batch);
  if (head.weights == Weights::kFloats)
    read_as<float>(in, head.rows, batch.importance);
  else
    fill(batch.importance, head.rows, 1.0F);
  if (head.keys == Keys::kNarrow)
    read_as<std::uint32_t>(in, head.entries, batch.keys);
  else
    read_as<Key>(in, head.entries, batch.keys);
  read_values(in, head, batch);
  if (head.naming == Naming::kText) read_sizes(in, head.entries, batch.names);
  place_texts(chunk, in, batch);
  if (in.left() != 0) throw CorruptData("something follows its end");
  fill(batch.records, head.rows, std::uint32_t{0});
  fill(batch.targets, head.rows, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace

bool SpoolEncoder::full() const {
  return stage_.rows() >= limits_.rows || stage_.entries() >= limits_.entries || stage_.arena.size() >= limits_.text;
}

void SpoolEncoder::note_origin(const std::string& source, std::uint64_t line) {
  const bool follows = !origins_.empty() && origins_.back().source == source && line >= last_line_;
  if (!follows) origins_.push_back({stage_.rows() - 1, line, source});
  line_steps_.push_back(follows ? line - last_line_ : 0);
  last_line_ = line;
}

void SpoolEncoder::add(const Batch& batch, std::uint64_t first_line, const Sink& sink) {
  std::uint64_t line = first_line;
  std::size_t at = 0;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (stage_.rows() != 0 && !same_naming(batch, stage_)) finish(sink);
    const std::size_t record = std::min<std::size_t>(batch.records[row], batch.text_size);
    if (record > at) line += count_lines({batch.text + at, record - at});
    at = std::max(at, record);
    append_row(batch, row, stage_);
    note_origin(batch.source, line);
    if (full()) finish(sink);
  }
}

void SpoolEncoder::finish(const Sink& sink) {
  if (stage_.rows() == 0) return;
  sink(encode(stage_, origins_, line_steps_));
  stage_.start({}, nullptr);
  origins_.clear();
  line_steps_.clear();
}

void decode_chunk(std::string_view chunk, std::shared_ptr<const void> owner, Batch& batch) {
  batch.start(chunk, std::move(owner));
  try {
    decode(chunk, batch);
  } catch (...) {
    batch.start({}, nullptr);
    throw;
  }
}

std::size_t decoded_size(std::string_view chunk) {
  ByteReader in(chunk);
  const ChunkHead head = read_head(in);
  const std::size_t a_row = 2 * sizeof(double) + sizeof(TextRef) + 3 * sizeof(float);
  const std::size_t an_entry = sizeof(Key) + sizeof(float) + (head.naming == Naming::kText ? sizeof(TextRef) : 0);
  return chunk.size() + head.rows * a_row + head.entries * an_entry;
}

RowOrigin origin_of(std::string_view chunk, std::size_t row) {
  ByteReader in(chunk);
  const ChunkHead head = read_head(in);
  if (row >= head.rows) throw CorruptData("there is no such row");
  RowOrigin found{row, 0, {}};
  std::size_t begin = 0;
  for (const RowOrigin& origin : read_origins(in, head.rows)) {
    if (origin.row > row) break;
    found.line = origin.line;
    found.source = origin.source;
    begin = origin.row;
  }
  for (std::size_t i = 0; i < 2 * head.rows; ++i) in.varint();  // row and label sizes
  for (std::size_t r = 0; r <= row; ++r) {
    const std::uint64_t step = in.varint();
    if (r > begin) found.line += step;
  }
  return found;
}

}  // namespace fsstream

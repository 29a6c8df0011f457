// libFuzzer targets for what meets bytes from outside, one program: its name, `fuzz-NAME`, says which.
//
// The first two bytes of an input draw where the rest is cut into two blocks of whole records. The whole
// text goes to a new parser and a new batch, so that every buffer has its exact size and ASan sees a byte
// too many; the parts go to a parser and a batch that have seen everything before, and must give the same
// rows and the same bad records, in the same places. Without ASan (quick_main.cpp) nothing is new or copied.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/errors.hpp"
#include "core/spool.hpp"
#include "parse/columns.hpp"
#include "parse/csv.hpp"
#include "parse/fasta.hpp"
#include "parse/fastq.hpp"
#include "parse/jsonl.hpp"
#include "parse/libsvm.hpp"
#include "parse/line_shapes.hpp"
#include "parse/pairs.hpp"
#include "parse/seq.hpp"
#include "parse/tokens.hpp"
#include "parse/vw.hpp"

namespace {

using namespace fsstream;

// Things as plain bytes, one behind the other, to be compared.
class Bytes {
 public:
  void clear() { bytes_.clear(); }
  bool operator==(const Bytes& other) const {
    return std::string_view(bytes_.data(), bytes_.size()) == std::string_view(other.bytes_.data(), other.bytes_.size());
  }
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    raw(value.data(), value.size());
  }

 private:
  Buffer<char> bytes_;
};

// What a parser made of a text: rows and bad records, with their places in it.
struct Seen {
  Bytes rows;
  Bytes bad;
  bool operator==(const Seen&) const = default;

  void clear() {
    rows.clear();
    bad.clear();
  }

  // `offset`: of the batch's text in the whole.
  void add(const Batch& batch, std::size_t offset) {
    for (std::size_t row = 0; row < batch.rows(); ++row) add_row(batch, row, offset);
    for (const BadRecord& record : batch.bad) {
      bad.number(offset + record.record);
      bad.number(record.length);
      bad.number(offset + record.column);
      bad.text(record.expected);
    }
  }

 private:
  void add_row(const Batch& batch, std::size_t row, std::size_t offset) {
    rows.text(batch.view(batch.labels[row]));
    if (!batch.tags.empty()) rows.text(batch.view(batch.tags[row]));
    rows.number(std::bit_cast<std::uint64_t>(batch.label_values[row]));
    rows.number(std::bit_cast<std::uint32_t>(batch.importance[row]));
    rows.number(offset + batch.records[row]);
    const std::size_t begin = batch.row_begin(row);
    const std::size_t entries = batch.row_end(row) - begin;
    rows.number(entries);
    rows.raw(batch.keys.data() + begin, entries * sizeof(Key));
    rows.raw(batch.values.data() + begin, entries * sizeof(float));
    if (batch.naming != Naming::kText) return;
    for (std::size_t j = begin; j < begin + entries; ++j) rows.text(batch.view(batch.names[j]));
  }
};

using Head = std::function<std::size_t(std::string_view)>;
using Make = std::function<std::unique_ptr<Parser>()>;
struct Target {
  Make make;
  Head head;  // where the last whole record ends
};

std::size_t lines_head(std::string_view text) {
  const std::size_t feed = text.rfind('\n');
  return feed == std::string_view::npos ? 0 : feed + 1;
}

std::vector<Column> columns() {
  return {{"y", ColumnKind::kLabel}, {"n", ColumnKind::kNumeric}, {"c", ColumnKind::kCategorical}};
}

template <class P, class... Arguments>
Target lines(Arguments... arguments) {
  return {[=] { return std::make_unique<P>(arguments...); }, lines_head};
}

Target table(TableForm form) {
  return {[=] { return std::make_unique<CsvParser>(form, false, columns()); },
          [=](std::string_view text) { return table_head(form, text); }};
}

const std::map<std::string, Target> kTargets = {
    {"libsvm", lines<LibsvmParser>()},
    {"pairs", lines<PairsParser>()},
    {"tokens", lines<TokensParser>(std::size_t{2})},
    {"vw", lines<VwParser>()},
    {"columns", lines<ColumnsParser>()},
    {"jsonl", lines<JsonlParser>(std::string("label"))},
    {"seq", lines<SeqParser>(5, true)},
    {"csv", table(kCsv)},
    {"tsv", table(kTsv)},
    {"fasta",
     {[] { return std::make_unique<FastaParser>(5, true, HeaderLabels::Table{}); },
      [](std::string_view text) { return fasta_head(text); }}},
    {"fastq",
     {[] { return std::make_unique<FastqParser>(5, true, HeaderLabels::Table{}); },
      [](std::string_view text) { return take_fastq(text, kAllRecords).bytes; }}},
};

// A heap allocation of the exact size of a text.
class Exact {
 public:
  explicit Exact(std::string_view text) : bytes_(new char[text.size()]), size_(text.size()) {
    if (size_ != 0) std::memcpy(bytes_.get(), text.data(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

class ParserCheck {
 public:
  explicit ParserCheck(const Target& target) : target_(target), kept_(target.make()), other_(target.make()) {}

  void operator()(std::string_view text, std::size_t draw) {
    whole_.clear();
    if (FSSTREAM_EXACT_BUFFERS) {
      Batch fresh;
      parse(*target_.make(), fresh, text, 0, whole_);
    } else {
      parse(*other_, other_batch_, text, 0, whole_);
    }
    const std::size_t cut = text.empty() ? 0 : target_.head(text.substr(0, draw % (text.size() + 1)));
    parts_.clear();
    if (cut != 0) parse(*kept_, batch_, text.substr(0, cut), 0, parts_);
    if (cut != text.size()) parse(*kept_, batch_, text.substr(cut), cut, parts_);
    if (parts_ == whole_) return;
    std::fprintf(stderr, "not the same when cut at %zu of %zu\n", cut, text.size());
    std::abort();
  }

 private:
  static void parse(Parser& parser, Batch& batch, std::string_view text, std::size_t offset, Seen& seen) {
    const Exact block(FSSTREAM_EXACT_BUFFERS ? text : std::string_view());
    batch.start(FSSTREAM_EXACT_BUFFERS ? block.view() : text, nullptr);
    batch.source = "fuzzed";
    batch.starts_source = offset == 0;
    parser.parse(batch, true);
    seen.add(batch, offset);
  }

  const Target& target_;
  std::unique_ptr<Parser> kept_, other_;
  Batch batch_, other_batch_;
  Seen whole_, parts_;
};

// A chunk of a spool is what was written, or refused.
void check_spool(std::string_view bytes) {
  const auto exact = std::make_shared<Exact>(bytes);
  const std::string_view chunk = exact->view();
  try {
    Batch batch;
    decode_chunk(chunk, exact, batch);
    Seen seen;
    seen.add(batch, 0);
    if (batch.rows() != 0) origin_of(chunk, batch.rows() - 1);
  } catch (const CorruptData&) {
    return;
  }
}

std::function<void(std::string_view text, std::size_t draw)> check;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  const std::string_view program((*argv)[0]);
  const std::string name(program.substr(program.rfind("-") + 1));
  if (name == "spool") {
    check = [](std::string_view text, std::size_t) { check_spool(text); };
  } else if (name == "shapes") {
    check = [](std::string_view text, std::size_t) { shapes_of_lines(Exact(text).view()); };
  } else if (kTargets.contains(name)) {
    check = [made = std::make_shared<ParserCheck>(kTargets.at(name))](std::string_view text, std::size_t draw) {
      (*made)(text, draw);
    };
  } else {
    std::fprintf(stderr, "no such target: %s\n", name.c_str());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t draw = data[0] + 256U * data[1];
  check({reinterpret_cast<const char*>(data) + 2, size - 2}, draw);
  return 0;
}

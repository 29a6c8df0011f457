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

// The rows of a text that was parsed whole, against those of its parts as they come: bits, names, bad records and
// all places must be the same.
class Comparison {
 public:
  explicit Comparison(const Batch& whole) : whole_(whole) {}

  // `offset`: of the part in the whole text.
  bool take(const Batch& part, std::size_t offset) {
    if (part.rows() > whole_.rows() - row_ || part.bad.size() > whole_.bad.size() - bad_) return false;
    const std::size_t entries = part.entries(), begin = whole_.row_begin(row_);
    if (entries > whole_.entries() - begin) return false;
    bool same = equal(part.label_values, whole_.label_values, row_, part.rows()) &&
                equal(part.importance, whole_.importance, row_, part.rows()) &&
                equal(part.keys, whole_.keys, begin, entries) && equal(part.values, whole_.values, begin, entries);
    for (std::size_t r = 0; r < part.rows(); ++r, ++row_) same = same && same_row(part, r, offset, begin);
    if (part.naming == Naming::kText)
      for (std::size_t j = 0; j < entries; ++j)
        same = same && part.view(part.names[j]) == whole_.view(whole_.names[begin + j]);
    for (const BadRecord& record : part.bad) same = same && same_bad(record, whole_.bad[bad_++], offset);
    windows_ += part.skipped_windows;
    collisions_ += part.collisions;
    return same;
  }

  bool complete() const {
    return row_ == whole_.rows() && bad_ == whole_.bad.size() && windows_ == whole_.skipped_windows &&
           collisions_ == whole_.collisions;
  }

 private:
  template <class T>
  static bool equal(const Buffer<T>& part, const Buffer<T>& whole, std::size_t at, std::size_t count) {
    return count == 0 || std::memcmp(part.data(), whole.data() + at, count * sizeof(T)) == 0;
  }
  bool same_row(const Batch& part, std::size_t r, std::size_t offset, std::size_t begin) const {
    return part.view(part.labels[r]) == whole_.view(whole_.labels[row_]) && part.tags.empty() == whole_.tags.empty() &&
           (part.tags.empty() || part.view(part.tags[r]) == whole_.view(whole_.tags[row_])) &&
           offset + part.records[r] == whole_.records[row_] && begin + part.row_end(r) == whole_.row_end(row_);
  }
  static bool same_bad(const BadRecord& a, const BadRecord& b, std::size_t offset) {
    return offset + a.record == b.record && a.length == b.length && offset + a.column == b.column &&
           std::string_view(a.expected) == b.expected;
  }

  const Batch& whole_;
  std::size_t row_ = 0, bad_ = 0, windows_ = 0, collisions_ = 0;  // compared so far
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
    const std::size_t cut = text.empty() ? 0 : target_.head(text.substr(0, draw % (text.size() + 1)));
    if (same(text, cut)) return;
    std::fprintf(stderr, "not the same when cut at %zu of %zu\n", cut, text.size());
    std::abort();
  }

 private:
  bool same(std::string_view text, std::size_t cut) {
    if (!FSSTREAM_EXACT_BUFFERS) {
      parse(*other_, other_batch_, text, 0);
      return same_in_parts(other_batch_, text, cut);
    }
    const Exact block(text);
    Batch fresh;
    parse(*target_.make(), fresh, block.view(), 0);
    return same_in_parts(fresh, text, cut);
  }

  bool same_in_parts(const Batch& whole, std::string_view text, std::size_t cut) {
    Comparison comparison(whole);
    bool same = true;
    for (const auto& [begin, end] : {std::pair{std::size_t{0}, cut}, {cut, text.size()}}) {
      if (begin == end) continue;
      const Exact block(FSSTREAM_EXACT_BUFFERS ? text.substr(begin, end - begin) : std::string_view());
      parse(*kept_, batch_, FSSTREAM_EXACT_BUFFERS ? block.view() : text.substr(begin, end - begin), begin);
      same = same && comparison.take(batch_, begin);
    }
    return same && comparison.complete();
  }

  static void parse(Parser& parser, Batch& batch, std::string_view text, std::size_t offset) {
    batch.start(text, nullptr);
    batch.source = "fuzzed";
    batch.starts_source = offset == 0;
    parser.parse(batch, true);
  }

  const Target& target_;
  std::unique_ptr<Parser> kept_, other_;
  Batch batch_, other_batch_;
};

// A chunk of a spool is what was written, or refused.
void check_spool(std::string_view bytes) {
  const auto exact = std::make_shared<Exact>(bytes);
  const std::string_view chunk = exact->view();
  try {
    Batch batch;
    decode_chunk(chunk, exact, batch);
    if (!Comparison(batch).take(batch, 0)) std::abort();  // looks at all of it
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

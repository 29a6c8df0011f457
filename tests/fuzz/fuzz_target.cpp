// libFuzzer targets for what meets bytes from outside, one program: its name, `fuzz-NAME`, says which.
//
// The first two bytes of an input draw where the rest is cut into two blocks of whole records. Whole and cut
// must give the same rows and the same number of bad records, and no byte outside a block may be touched:
// every block is a heap allocation of its exact size.
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

// What a parser made of a text: rows spelled out, and how many records were bad.
struct Seen {
  std::string rows;
  std::size_t bad = 0;
  bool operator==(const Seen&) const = default;
};

void spell(const Batch& batch, Seen& seen) {
  std::string name;
  char number[64];
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    seen.rows += batch.view(batch.labels[row]);
    std::snprintf(number, sizeof number, "|%a", static_cast<double>(batch.importance[row]));
    seen.rows += number;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      std::snprintf(number, sizeof number, " %016llx:%08x=", static_cast<unsigned long long>(batch.keys[j]),
                    std::bit_cast<unsigned>(batch.values[j]));
      seen.rows += number;
      seen.rows += batch.name(j, name);
    }
    seen.rows += '\n';
  }
  seen.bad += batch.bad.size();
}

void parse(Parser& parser, std::string_view block, bool first, Seen& seen) {
  const std::vector<char> exact(block.begin(), block.end());
  Batch batch;
  batch.start({exact.data(), exact.size()}, nullptr);
  batch.source = "fuzzed";
  batch.starts_source = first;
  parser.parse(batch, true);
  spell(batch, seen);
}

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

void check_parser(const Target& target, std::string_view text, std::size_t draw) {
  const auto parser = target.make();
  Seen whole;
  parse(*parser, text, true, whole);
  const std::size_t cut = text.empty() ? 0 : target.head(text.substr(0, draw % (text.size() + 1)));
  if (cut == 0 || cut == text.size()) return;
  Seen parts;
  const auto again = target.make();
  parse(*again, text.substr(0, cut), true, parts);
  parse(*again, text.substr(cut), false, parts);
  if (parts == whole) return;
  std::fprintf(stderr, "cut at %zu:\n%s---- and %zu bad\n%s---- and %zu bad\n", cut, whole.rows.c_str(), whole.bad,
               parts.rows.c_str(), parts.bad);
  std::abort();
}

// A chunk of a spool is what was written, or refused.
void check_spool(std::string_view bytes) {
  const auto exact = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  const std::string_view chunk(exact->data(), exact->size());
  try {
    Batch batch;
    decode_chunk(chunk, exact, batch);
    Seen seen;
    spell(batch, seen);
    if (batch.rows() != 0) origin_of(chunk, batch.rows() - 1);
  } catch (const CorruptData&) {
    return;
  }
}

std::string chosen;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  const std::string_view program((*argv)[0]);
  chosen = program.substr(program.rfind("fuzz-") + 5);
  if (chosen == "spool" || chosen == "shapes" || kTargets.contains(chosen)) return 0;
  std::fprintf(stderr, "no such target: %s\n", chosen.c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t draw = data[0] + 256U * data[1];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (chosen == "spool")
    check_spool(text);
  else if (chosen == "shapes")
    shapes_of_lines(std::string(text));
  else
    check_parser(kTargets.at(chosen), text, draw);
  return 0;
}

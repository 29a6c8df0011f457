#include "bindings/parse.hpp"
#include "parse/fasta.hpp"
#include "parse/fastq.hpp"
#include "parse/seq.hpp"

namespace fsstream {

namespace {

std::string text_of(nb::handle bytes) {
  const auto held = nb::cast<nb::bytes>(bytes);
  return {held.c_str(), held.size()};
}

HeaderLabels::Table table_of(const nb::dict& labels) {
  HeaderLabels::Table table;
  for (const auto& [name, label] : labels) table.emplace_back(text_of(name), text_of(label));
  return table;
}

template <class Sequences>
void construct(Sequences* parser, int kmer, bool canonical, const nb::dict& labels) {
  new (parser) Sequences(kmer, canonical, table_of(labels));
}

}  // namespace

void bind_parse_records(nb::module_& m) {
  m.def("fasta_head", [](nb::handle buffer) { return fasta_head(lend(buffer).view); }, nb::arg("buffer"));
  m.def("fastq_head", [](nb::handle buffer) { return fastq_head(lend(buffer).view); }, nb::arg("buffer"));
  nb::class_<SeqParser, Parser>(m, "SeqParser").def(nb::init<int, bool>(), nb::arg("kmer"), nb::arg("canonical"));
  nb::class_<FastaParser, Parser>(m, "FastaParser")
      .def("__init__", &construct<FastaParser>, nb::arg("kmer"), nb::arg("canonical"), nb::arg("labels"));
  nb::class_<FastqParser, Parser>(m, "FastqParser")
      .def("__init__", &construct<FastqParser>, nb::arg("kmer"), nb::arg("canonical"), nb::arg("labels"));
}

}  // namespace fsstream

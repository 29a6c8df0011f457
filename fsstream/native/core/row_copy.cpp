#include "core/row_copy.hpp"

namespace fsstream {

namespace {

TextRef copy_text(const Batch& from, TextRef ref, Batch& to) {
  return ref.length == 0 ? TextRef{} : to.compose(from.view(ref));
}

}  // namespace

bool same_naming(const Batch& from, const Batch& to) {
  return from.naming == to.naming && from.kmer_length == to.kmer_length;
}

void append_entries(const Batch& from, std::size_t begin, std::size_t end, Batch& to) {
  to.keys.append(from.keys.data() + begin, end - begin);
  to.values.append(from.values.data() + begin, end - begin);
  if (from.naming != Naming::kText) return;
  for (std::size_t j = begin; j < end; ++j) to.names.push_back(copy_text(from, from.names[j], to));
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

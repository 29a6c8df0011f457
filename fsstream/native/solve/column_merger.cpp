#include "solve/column_merger.hpp"

#include <limits>

#include "core/row_copy.hpp"
#include "core/spool.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

Key key_of_kmer(std::string_view letters) {
  Key key = 0;
  for (const char letter : letters) key = key << 2 | std::string_view("ACGT").find(letter);
  return key;
}

}  // namespace

Key ColumnMerger::key_of(std::string_view name) const { return kmers_ ? key_of_kmer(name) : key_of_name(name); }

std::string_view ColumnMerger::name_of(const Head& head) const {
  const Run& run = runs_[head.run];
  return run.batch.view(run.batch.labels[run.row]);
}

void ColumnMerger::put_head(std::size_t run) {
  Head head{0, run};
  head.key = key_of(name_of(head));
  heads_.push(head);
}

void ColumnMerger::feed(std::size_t run, std::string_view chunk, std::shared_ptr<const void> owner) {
  Run& fed = runs_.at(run);
  decode_chunk(chunk, std::move(owner), fed.batch);
  fed.row = 0;
  if (fed.batch.rows() != 0) put_head(run);
}

bool ColumnMerger::advance(std::size_t run, Batch& out) {
  Run& from = runs_[run];
  append_entries(from.batch, from.batch.row_begin(from.row), from.batch.row_end(from.row), out);
  if (++from.row == from.batch.rows()) return false;
  put_head(run);
  return true;
}

std::vector<std::size_t> ColumnMerger::merge(std::size_t max_entries, Batch& out) {
  std::vector<std::size_t> hungry;
  while (!heads_.empty() && hungry.empty() && out.entries() < max_entries && out.rows() < max_entries) {
    const Key key = heads_.top().key;
    const TextRef label = out.compose(name_of(heads_.top()));
    while (!heads_.empty() && heads_.top().key == key) {
      const Head head = heads_.top();
      heads_.pop();
      collisions_ += name_of(head) != out.view(label);
      if (!advance(head.run, out)) hungry.push_back(head.run);
    }
    out.end_row(label, std::numeric_limits<double>::quiet_NaN(), 1.0F, 0);
  }
  return hungry;
}

}  // namespace fsstream

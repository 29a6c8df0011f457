// What the bindings of all parsers share.
#pragma once

#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/text.hpp"
#include "parse/parser.hpp"

namespace fsstream {

// The bytes of a file's name as Python hands it out, whatever its encoding is.
inline std::string file_name(const nb::str& name) {
  const nb::bytes encoded = nb::steal<nb::bytes>(PyUnicode_EncodeFSDefault(name.ptr()));
  if (!encoded.is_valid()) throw nb::python_error();
  return {encoded.c_str(), encoded.size()};
}

// Fills the batch with the rows of a buffer of whole records, and keeps the buffer alive in it.
// `source` names the file, `starts_source` tells that the buffer is its beginning.
inline void parse_buffer(Parser& parser, nb::handle buffer, Batch& batch, bool skip_bad, const nb::str& source,
                         bool starts_source) {
  LentText text = lend(buffer);
  if (text.view.size() >= TextRef::kArena) throw std::invalid_argument("a block is below 2 GiB");
  batch.start(text.view, std::move(text.owner));
  batch.source = file_name(source);
  batch.starts_source = starts_source;
  const nb::gil_scoped_release released;
  parser.parse(batch, skip_bad);
}

}  // namespace fsstream

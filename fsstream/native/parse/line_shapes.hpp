// LineShapes: what the lines of a stream look like, for `--format auto`.
//
// A line is its label and, behind white space, its fields. Blank lines and lines that begin
// with `#` say nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace fsstream {

struct LineShapes {
  std::uint64_t lines = 0;
  std::uint64_t sequences = 0;  // lines `label<TAB>DNA`, of the letters ACGTN alone
  std::uint64_t barred = 0;     // lines with a `|` right behind `label [weight] ['tag]`
  std::uint64_t fields = 0;     // behind the labels
  std::uint64_t named = 0;      // fields `...:number`
  std::uint64_t indexed = 0;    // fields `digits:number`
};

// Looks at the lines of a text.
LineShapes shapes_of_lines(std::string_view text);

}  // namespace fsstream

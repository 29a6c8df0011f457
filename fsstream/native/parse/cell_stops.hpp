// Where the cells of a record stop, listed from one look at each 64 bytes.
//
// In csv what stands within quotes is passed over: between an odd number of quotes and the next. That is where a
// reader finds the cells, too, as long as quotes do nothing but open and close cells, or stand doubled in those;
// whether they do is for the caller to see, who is told how many there are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parse/cells.hpp"

namespace fsstream {

struct CellStops {
  std::size_t cells = 0;   // each stops at a separator, the last one at the line feed; 0: not listed
  std::size_t quotes = 0;  // in the record
  bool doubled = false;    // whether two of them may stand side by side
};

// A view is listed whole, and there is one more than asked for.
inline constexpr std::size_t kBehindStops = 65;

// Lists the stops of the record at `begin`, as offsets from there, unless there are more than `most`, a NUL or no
// line feed. Looks at the 64 bytes from `last` on, and at nothing behind them. Of `stops`, `most` and kBehindStops
// are written at most.
using StopLister = CellStops (*)(const char* begin, const char* last, std::uint32_t* stops, std::size_t most);

StopLister best_stop_lister(TableForm form);
StopLister wide_stop_lister(TableForm form);  // with AVX-512; null where that was not compiled

// The bits at which, and behind which, an odd number of bits is set.
[[gnu::always_inline]] inline std::uint64_t odd_from(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// `Machine` looks at 64 bytes, and lists bits.
template <class Machine, char kSeparator, bool kQuotes>
[[gnu::always_inline]] inline CellStops list_cell_stops(const char* begin, const char* last, std::uint32_t* stops,
                                                        std::size_t most) {
  CellStops found;
  std::uint64_t inside = 0;  // all ones where a view begins within quotes
  std::uint64_t before = 0;  // one where a view begins behind a quote
  for (const char* view = begin; view <= last && found.cells <= most; view += 64) {
    std::uint64_t feeds = Machine::equal(view, '\n');
    std::uint64_t marks = Machine::equal(view, kSeparator) | feeds;
    const std::uint64_t quotes = kQuotes ? Machine::equal(view, '"') : 0;
    if (kQuotes && (quotes | inside | before) != 0) {
      const std::uint64_t within = odd_from(quotes) ^ inside;
      inside = std::uint64_t{0} - (within >> 63);
      found.doubled = found.doubled || (quotes & (quotes << 1 | before)) != 0;
      before = quotes >> 63;
      feeds &= ~within;
      marks &= ~within;
    }
    const std::uint64_t in_record = feeds ^ (feeds - 1);
    marks &= in_record;
    if ((Machine::equal(view, '\0') & in_record) != 0) return {};
    Machine::list(marks, static_cast<std::uint32_t>(view - begin), stops + found.cells);
    found.cells += static_cast<std::size_t>(__builtin_popcountll(marks));
    if (kQuotes) found.quotes += static_cast<std::size_t>(__builtin_popcountll(quotes & in_record));
    if (feeds != 0) return found.cells <= most ? found : CellStops{};
  }
  return {};
}

}  // namespace fsstream

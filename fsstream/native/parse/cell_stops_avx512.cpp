// cell_stops.cpp for AVX-512. This file alone is compiled for it (see CMakeLists.txt): it must not emit inline
// functions of headers, which the linker might share with the rest.
#include "parse/cell_stops.hpp"

#if defined(__AVX512F__)
#include "parse/wide_text.hpp"

namespace fsstream {

namespace {

struct WideView {
  static std::uint64_t equal(const char* p, char c) { return bytes_equal(_mm512_loadu_si512(p), c); }
  static void list(std::uint64_t bits, std::uint32_t offset, std::uint32_t* out) { list_bits(bits, offset, out); }
};

template <char kSeparator, bool kQuotes>
CellStops list_wide(const char* begin, const char* last, std::uint32_t* stops, std::size_t most) {
  return list_cell_stops<WideView, kSeparator, kQuotes>(begin, last, stops, most);
}

}  // namespace

StopLister wide_stop_lister(TableForm form) { return form.quotes ? &list_wide<',', true> : &list_wide<'\t', false>; }

}  // namespace fsstream

#else

namespace fsstream {

StopLister wide_stop_lister(TableForm) { return nullptr; }

}  // namespace fsstream

#endif

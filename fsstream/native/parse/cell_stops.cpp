#include "parse/cell_stops.hpp"

#include <bit>

#include "parse/view.hpp"

namespace fsstream {

namespace {

// Eight are listed where there are fewer: so many as there are would be mispredicted.
template <class View>
struct ListingView : View {
  [[gnu::always_inline]] static void list(std::uint64_t bits, std::uint32_t offset, std::uint32_t* out) {
    for (; bits != 0; out += 8)
      for (int i = 0; i < 8; ++i, bits &= bits - 1)
        out[i] = offset + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
};

template <char kSeparator, bool kQuotes>
CellStops list_portably(const char* begin, const char* last, std::uint32_t* stops, std::size_t most) {
  return list_cell_stops<ListingView<PortableView>, kSeparator, kQuotes>(begin, last, stops, most);
}

#if defined(__x86_64__)
template <char kSeparator, bool kQuotes>
[[gnu::target("avx2,bmi,bmi2,popcnt")]] CellStops list_with_avx2(const char* begin, const char* last,
                                                                 std::uint32_t* stops, std::size_t most) {
  return list_cell_stops<ListingView<Avx2View>, kSeparator, kQuotes>(begin, last, stops, most);
}
#endif

}  // namespace

StopLister best_stop_lister(TableForm form) {
  const StopLister wide = wide_stop_lister(form);
  if (wide != nullptr && instruction_set() == InstructionSet::kAvx512) return wide;
#if defined(__x86_64__)
  if (has_avx2()) return form.quotes ? &list_with_avx2<',', true> : &list_with_avx2<'\t', false>;
#endif
  return form.quotes ? &list_portably<',', true> : &list_portably<'\t', false>;
}

}  // namespace fsstream

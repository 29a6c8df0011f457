#include "sketch/warm_up.hpp"

#include <algorithm>

#include "core/ask.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kLine = 64;
// Bytes of a sketch that the caches hold. Kernels read many cells before they need the first: asking for them takes 2.7
// times what it saves at 3 MB, and half of what it saves at 48 MB.
constexpr std::size_t kStaysCached = std::size_t{8} << 20;

template <int Cache>
inline void ask_for(const char* begin, const char* end) {
  for (const char* line = begin; line < end; line += kLine) ask_to_read<Cache>(line);
}

template <int Cache, class T>
inline void ask_for(const Buffer<T>& column, std::size_t begin, std::size_t end) {
  const T* const data = column.data();
  end = std::min(end, column.size());
  ask_for<Cache>(reinterpret_cast<const char*>(data + begin), reinterpret_cast<const char*>(data + end));
}

// As much text as the names of this run span, from where they end.
inline void ask_for_text_behind(const Batch& batch, std::size_t first, std::size_t last) {
  constexpr std::ptrdiff_t kMost = 32 << 10;
  const char* const begin = batch.view(batch.names[first]).data();
  const char* const end = batch.view(batch.names[last]).data();
  if (end > begin && end - begin <= kMost) ask_for<kSecondCache>(end, end + (end - begin));
}

}  // namespace

void warm_up_run(const Batch& batch, std::size_t first, std::size_t size) {
  const std::size_t begin = first + size;
  const std::size_t end = begin + size;
  ask_for<kFirstCache>(batch.values, first, begin);
  if (begin >= batch.entries()) return;
  ask_for<kSecondCache>(batch.keys, begin, end);
  ask_for<kSecondCache>(batch.values, begin, end);
  if (batch.naming != Naming::kText || size == 0) return;
  ask_for<kSecondCache>(batch.names, begin, end);
  ask_for_text_behind(batch, first, begin - 1);
}

// Into the second cache: the first is too small for a run, and what is brought there is written back from it once more.
void warm_up(const SketchRows& rows, int depth, std::size_t count) {
  if (static_cast<std::size_t>(depth) * rows.width * sizeof(float) <= kStaysCached) return;
  for (int r = 0; r < depth; ++r) {
    float* const cells = cells_of(rows, static_cast<std::size_t>(r));
    const std::uint32_t* const places = places_of(rows, static_cast<std::size_t>(r), 0);
    for (std::size_t j = 0; j < count; ++j) ask_to_read<kSecondCache>(&cell_at(cells, places[j]));
  }
}

}  // namespace fsstream

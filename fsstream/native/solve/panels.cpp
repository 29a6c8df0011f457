#include "solve/panels.hpp"

#include <cstring>

#include "core/multiversion.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kVector = 16;
using Vector = float __attribute__((vector_size(kVector * sizeof(float))));

// R rows and V vectors of a product.
template <std::size_t R, std::size_t V>
[[gnu::always_inline]] inline void add_tile(const float* a, const float* b, std::size_t depth, float* g,
                                            std::size_t stride) {
  Vector sums[R][V] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Vector right[V];
    for (std::size_t v = 0; v < V; ++v) std::memcpy(&right[v], b + k * kPanel + v * kVector, sizeof(Vector));
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t v = 0; v < V; ++v) sums[r][v] += a[k * kPanel + r] * right[v];
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < V; ++v) {
      float* to = g + r * stride + v * kVector;
      Vector before;
      std::memcpy(&before, to, sizeof(Vector));
      before += sums[r][v];
      std::memcpy(to, &before, sizeof(Vector));
    }
}

// R and V are what the registers hold.
template <std::size_t R, std::size_t V>
void add_panels(const float* a, const float* b, std::size_t depth, float* g, std::size_t stride) {
  for (std::size_t c = 0; c < kPanel; c += V * kVector)
    for (std::size_t r = 0; r < kPanel; r += R) add_tile<R, V>(a + r, b + c, depth, g + r * stride + c, stride);
}

const auto best_panels = instruction_set() == InstructionSet::kAvx512 ? Compiled<&add_panels<8, 2>>::best()
                                                                      : Compiled<&add_panels<4, 1>>::best();

}  // namespace

void add_panel_product(const float* a, const float* b, std::size_t depth, float* g, std::size_t stride) {
  best_panels(a, b, depth, g, stride);
}

}  // namespace fsstream

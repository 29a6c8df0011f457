// Panels: matrices of floats packed 32 columns side by side, and their products.
//
// A panel holds rows k of 32 numbers each. Each number that is read serves 32 products; each
// entry sums over k in order: the same bits whatever the registers.
#pragma once

#include <cstddef>

namespace fsstream {

inline constexpr std::size_t kPanel = 32;

// A side of a matrix in whole panels.
constexpr std::size_t in_panels(std::size_t columns) { return (columns + kPanel - 1) / kPanel * kPanel; }

// g[r * stride + c] += sum over k < depth of a[k * 32 + r] b[k * 32 + c], for r, c < 32.
void add_panel_product(const float* a, const float* b, std::size_t depth, float* g, std::size_t stride);

}  // namespace fsstream

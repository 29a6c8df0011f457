// Multiplying all cells of a sketch by a factor a row: kept aside, and done when it gets small.
#pragma once

#include <cstddef>
#include <span>

namespace fsstream {

// Of float32 numbers: far from where ordinary weights lose digits or overflow.
inline constexpr double kSmallestFloatScale = 1e-9;

// True when the cells were rewritten to keep the scale in range: what is stored in their unit
// must be multiplied by `rewritten` then.
inline bool shrink_lazily(double& scale, std::span<float> cells, double factor, double& rewritten) {
  scale *= factor;
  if (scale >= kSmallestFloatScale) return false;
  rewritten = scale;
  for (float& cell : cells) cell = static_cast<float>(cell * rewritten);
  scale = 1.0;
  return true;
}

// cells += ratio * others.
inline void add_scaled(std::span<float> cells, std::span<const float> others, double ratio) {
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += static_cast<float>(others[i] * ratio);
}

}  // namespace fsstream

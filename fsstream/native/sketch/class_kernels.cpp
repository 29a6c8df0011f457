#include "sketch/class_kernels.hpp"

#include "core/multiversion.hpp"
#include "sketch/by_depth.hpp"
#include "sketch/median.hpp"

namespace fsstream {

namespace {

using class_cells::at;
using class_cells::kLine;

inline float magnitude(float x) { return x < 0 ? -x : x; }

template <int D>
inline void estimate(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, float* estimates) {
  const std::size_t far = class_cells::distance(D, rows.lanes);
  for (std::size_t i = 0; i < count; ++i) {
    if (listed[i] + far < rows.known) class_cells::fetch<D>(rows, listed[i] + far);
    const float* cells[D];
    std::uint32_t places[D];
    for (std::size_t r = 0; r < D; ++r) {
      places[r] = rows.columns[r * rows.stride + listed[i]];
      cells[r] = at(rows, r, places[r]);
    }
    float* __restrict out = estimates + i * rows.lanes;
    for (std::size_t c = 0; c < rows.lanes; ++c) {
      float seen[D];
      for (int r = 0; r < D; ++r) seen[r] = signed_by(cells[r][c], places[r]);
      out[c] = median(seen);
    }
  }
}

template <int D>
inline void add(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, const float* factors,
                const float* step, float* estimates) {
  for (std::size_t i = 0; i < count; ++i) {
    if (factors[i] == 0.0F) continue;
    for (std::size_t r = 0; r < D; ++r) {
      const std::uint32_t place = rows.columns[r * rows.stride + listed[i]];
      const float factor = signed_by(factors[i], place);
      float* __restrict cell = at(rows, r, place);
      for (std::size_t c = 0; c < rows.lanes; ++c) cell[c] += factor * step[c];
    }
    float* __restrict out = estimates + i * rows.lanes;
    for (std::size_t c = 0; c < rows.lanes; ++c) out[c] += factors[i] * step[c];
  }
}

// L lanes at a time, which are all of them up to 16. Sums are kept apart from the cells they go back to: a
// compiler that knew no better would take one for the other, lane by lane.
template <int D, std::size_t L>
inline std::size_t step(const ClassRows& rows, const std::uint32_t* listed, std::size_t count, const ClassStep& by,
                        std::uint32_t* above, float* estimates) {
  const std::size_t lanes = L < kLine ? L : rows.lanes;
  const std::size_t far = class_cells::distance(D, lanes);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = listed[i];
    if (j + far < rows.known) class_cells::fetch<D>(rows, j + far);
    if (by.factors[i] == 0.0F) continue;
    const float stature = by.statures[i];
    unsigned exceeds = 0;
    for (std::size_t begin = 0; begin < lanes; begin += L) {
      float seen[D][L];
      for (std::size_t r = 0; r < D; ++r) {
        const std::uint32_t place = rows.columns[r * rows.stride + j];
        const float factor = signed_by(by.factors[i], place);
        float* __restrict cell = at(rows, r, place) + begin;
        const float* __restrict moved = by.step + begin;
        for (std::size_t c = 0; c < L; ++c) seen[r][c] = cell[c] + factor * moved[c];
        for (std::size_t c = 0; c < L; ++c) cell[c] = seen[r][c];
        for (std::size_t c = 0; c < L; ++c) seen[r][c] = signed_by(seen[r][c], place);
      }
      float middle[L];
      for (std::size_t c = 0; c < L; ++c) {
        float values[D];
        for (std::size_t r = 0; r < D; ++r) values[r] = seen[r][c];
        middle[c] = median(values);
      }
      const float* __restrict thresholds = by.thresholds + begin;
      for (std::size_t c = 0; c < L; ++c) exceeds |= magnitude(middle[c]) * stature > thresholds[c] ? 1U : 0U;
      float* __restrict out = estimates + found * lanes + begin;
      for (std::size_t c = 0; c < L; ++c) out[c] = middle[c];
    }
    above[found] = static_cast<std::uint32_t>(i);
    found += exceeds;
  }
  return found;
}

template <int D, std::size_t L>
const ClassKernels* kernels_of() {
  static const ClassKernels kernels = [] {
    const bool wide_machine = instruction_set() == InstructionSet::kAvx512;
    const ClassKernels::Step wide = wide_machine ? wide_class_step(D) : nullptr;
    return ClassKernels{Compiled<&estimate<D>>::best(), Compiled<&add<D>>::best(),
                        wide != nullptr ? wide : Compiled<&step<D, L>>::best()};
  }();
  return &kernels;
}

}  // namespace

const ClassKernels& class_kernels(int depth, std::size_t lanes) {
  return *by_depth(depth, [lanes](auto d) {
    return lanes == 4 ? kernels_of<d(), 4>() : lanes == 8 ? kernels_of<d(), 8>() : kernels_of<d(), kLine>();
  });
}

}  // namespace fsstream

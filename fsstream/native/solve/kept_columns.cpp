#include "solve/kept_columns.hpp"

#include <algorithm>
#include <bit>

namespace fsstream {

namespace {

// Floats of one class share their sign, exponent and upper 7 bits: 32,768 classes.
constexpr std::size_t kClasses = std::size_t{1} << 15;

std::size_t size_class(double l1) { return std::bit_cast<std::uint32_t>(static_cast<float>(l1)) >> 16; }

double class_bound(std::size_t c) {
  if (c + 1 >= kClasses) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(c + 1) << 16));
}

}  // namespace

std::vector<std::uint32_t> KeptColumns::build(std::size_t features, Buffer<std::uint64_t>& row_starts,
                                              Buffer<std::uint64_t>& number_starts, Buffer<std::uint32_t>& numbers,
                                              Buffer<float>& values) {
  struct Size {
    double l1 = 0.0;
    std::uint64_t entries = 0;
  };
  std::vector<Size> sizes(features);
  // visit(row, number, value) of all entries, in row order
  const auto walk_rows = [&](auto visit) {
    for (std::size_t row = 0; row + 1 < row_starts.size(); ++row) {
      const std::uint32_t* number = numbers.data() + number_starts[row];
      for (std::uint64_t j = row_starts[row]; j < row_starts[row + 1]; ++j) visit(row, *number++, values[j]);
    }
  };
  walk_rows([&](std::size_t, std::uint32_t number, float value) {
    sizes[number].l1 += std::abs(static_cast<double>(value));
    ++sizes[number].entries;
  });

  // Counting sort of the features by class, the largest class first.
  std::vector<std::uint32_t> begin(kClasses + 1);
  for (const Size& size : sizes) ++begin[kClasses - size_class(size.l1)];
  for (std::size_t c = 1; c <= kClasses; ++c) begin[c] += begin[c - 1];
  classes_.clear();
  for (std::size_t c = 0; c < kClasses; ++c)
    if (begin[c + 1] != begin[c]) classes_.push_back({begin[c], class_bound(kClasses - 1 - c)});
  std::vector<std::uint32_t> order(features);
  for (std::uint32_t f = 0; f < features; ++f) order[begin[kClasses - 1 - size_class(sizes[f].l1)]++] = f;

  starts_.assign(features + 1, 0);
  std::vector<std::uint64_t> cursor(features);  // by feature number
  for (std::size_t p = 0; p < features; ++p) {
    cursor[order[p]] = starts_[p];
    starts_[p + 1] = starts_[p] + sizes[order[p]].entries;
  }
  entries_ = Pages<Entry>(values.size());
  walk_rows([&](std::size_t row, std::uint32_t number, float value) {
    entries_[cursor[number]++] = {static_cast<std::uint32_t>(row), value};
  });
  row_starts = Buffer<std::uint64_t>();
  number_starts = Buffer<std::uint64_t>();
  numbers = Buffer<std::uint32_t>();
  values = Buffer<float>();
  return order;
}

void KeptColumns::dots(std::size_t p, std::size_t count, std::span<const double> r, double* sums) const {
  const auto term = [&](const Entry& entry) { return r[entry.row] * static_cast<double>(entry.value); };
  std::size_t done = 0;
  for (; done + 4 <= count; done += 4) {
    std::span<const Entry> four[4];
    for (std::size_t c = 0; c < 4; ++c) four[c] = column(p + done + c);
    const std::size_t shared = std::min({four[0].size(), four[1].size(), four[2].size(), four[3].size()});
    double sum[4] = {};
    for (std::size_t j = 0; j < shared; ++j)
      for (std::size_t c = 0; c < 4; ++c) sum[c] += term(four[c][j]);
    for (std::size_t c = 0; c < 4; ++c) {
      for (const Entry& entry : four[c].subspan(shared)) sum[c] += term(entry);
      sums[done + c] = sum[c];
    }
  }
  for (; done < count; ++done) sums[done] = dot(p + done, r);
}

}  // namespace fsstream

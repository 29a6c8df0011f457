#include "learn/weight_median.hpp"

#include "sketch/median.hpp"

namespace fsstream {

double WeightMedian::score(const Row& row) {
  const double active = seats_.look_up(*row.batch, row.first, row.first + row.size);
  const SketchRows rows = memory_.rows(hashed_, row.hashed);
  double others = 0.0;
  for (const std::size_t j : seats_.others()) {
    double sum = 0.0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(memory_.depth()); ++r) {
      const std::uint32_t place = rows.columns[r * rows.stride + j - row.first];
      sum += signed_by(rows.cells[r * rows.width + (place & ~kSignBit)], place);
    }
    others += sum / memory_.depth() * static_cast<double>(row.batch->values[j]);
  }
  return seats_.scale() * (active + memory_.scale() * others);
}

}  // namespace fsstream

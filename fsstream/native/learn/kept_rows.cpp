#include "learn/kept_rows.hpp"

#include <algorithm>

#include "learn/saved_rows.hpp"

namespace fsstream {

void KeptRows::add(const Batch& batch) {
  if (!whole_) return;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    if (batch.importance[row] <= 0.0F) continue;
    const std::size_t first = batch.row_begin(row);
    const std::size_t size = batch.row_end(row) - first;
    if (size * kEntry + kRow > room_ - bytes()) {
      drop();
      return;
    }
    rows_.keys.append(batch.keys.data() + first, size);
    rows_.values.append(batch.values.data() + first, size);
    if (rows_.row_starts.empty()) rows_.row_starts.push_back(0);
    rows_.end_row({}, 0.0, batch.importance[row], 0);
    rows_.targets.back() = batch.targets[row];
  }
}

std::vector<double> KeptRows::means(std::span<const Key> features) const {
  std::vector<double> sums(features.size());
  double weight = 0.0;
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    weight += rows_.importance[row];
    for (std::size_t j = rows_.row_begin(row); j < rows_.row_end(row); ++j) {
      const auto found = std::lower_bound(features.begin(), features.end(), rows_.keys[j]);
      if (found == features.end() || *found != rows_.keys[j]) continue;
      sums[static_cast<std::size_t>(found - features.begin())] += rows_.importance[row] * rows_.values[j];
    }
  }
  for (double& sum : sums) sum /= weight;
  return sums;
}

void KeptRows::drop() {
  whole_ = false;
  rows_ = Batch();
}

void KeptRows::save(StateWriter& out) const {
  if (room_ == 0) return;
  const std::uint64_t whole = whole_ ? 1 : 0;
  out.put("kept", std::span<const std::uint64_t>(&whole, 1));
  if (!whole_) return;
  if (rows_.rows() > 0) {
    save_rows(rows_, out);
    return;
  }
  Batch none;
  none.row_starts.push_back(0);
  save_rows(none, out);
}

void KeptRows::load(const StateReader& in) {
  if (room_ == 0) return;
  const bool whole = of_size(in.words("kept"), 1, "kept")[0] != 0;
  drop();
  if (!whole) return;
  rows_.row_starts.push_back(0);
  load_rows(in, rows_);
  if (rows_.naming != Naming::kDecimal || bytes() > room_) throw BadState("state: other rows than are kept");
  whole_ = true;
}

}  // namespace fsstream

#include "core/shuffle.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/row_copy.hpp"
#include "hash/mix.hpp"

namespace fsstream {

void shuffled_order(std::uint64_t seed, std::span<std::uint64_t> order) {
  SplitMix random(mix64(seed));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t j = random.below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

std::size_t gather_rows(std::span<const Batch* const> batches, std::span<const std::uint64_t> order, std::size_t at,
                        std::size_t max_entries, Batch& out) {
  std::vector<std::uint64_t> ends;
  for (const Batch* batch : batches) ends.push_back((ends.empty() ? 0 : ends.back()) + batch->rows());
  for (; at < order.size() && out.entries() < max_entries && out.rows() < max_entries; ++at) {
    const auto which = std::upper_bound(ends.begin(), ends.end(), order[at]) - ends.begin();
    if (which == std::ssize(ends)) throw std::invalid_argument("a row that is not there");
    const Batch& batch = *batches[static_cast<std::size_t>(which)];
    if (out.rows() != 0 && !same_naming(batch, out)) break;
    append_row(batch, order[at] - (which == 0 ? 0 : ends[static_cast<std::size_t>(which) - 1]), out);
  }
  return at;
}

}  // namespace fsstream

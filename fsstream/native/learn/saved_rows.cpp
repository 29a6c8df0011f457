#include "learn/saved_rows.hpp"

#include <vector>

namespace fsstream {

void save_entries(const Batch& rows, StateWriter& out) {
  std::vector<std::uint64_t> lengths;
  std::vector<char> bytes;
  if (rows.naming == Naming::kText)
    for (const TextRef ref : rows.names.span()) {
      const std::string_view name = rows.view(ref);
      lengths.push_back(name.size());
      bytes.insert(bytes.end(), name.begin(), name.end());
    }
  const std::uint64_t naming[] = {static_cast<std::uint64_t>(rows.naming),
                                  static_cast<std::uint64_t>(rows.kmer_length)};
  out.put("waiting_naming", std::span<const std::uint64_t>(naming));
  out.put("waiting_keys", std::span<const std::uint64_t>(rows.keys.data(), rows.keys.size()));
  out.put("waiting_values", std::span<const float>(rows.values.data(), rows.values.size()));
  out.put("waiting_lengths", std::span<const std::uint64_t>(lengths));
  out.put("waiting_names", std::span<const char>(bytes));
}

void load_entries(const StateReader& in, Batch& rows) {
  const auto naming = of_size(in.words("waiting_naming"), 2, "waiting_naming");
  const auto keys = in.words("waiting_keys");
  const auto values = of_size(in.floats("waiting_values"), keys.size(), "waiting_values");
  if (naming[0] > static_cast<std::uint64_t>(Naming::kText) || naming[1] > 32)
    throw BadState("state: names of an unknown kind");
  rows.naming = static_cast<Naming>(naming[0]);
  rows.kmer_length = static_cast<int>(naming[1]);
  rows.keys.append(keys.data(), keys.size());
  rows.values.append(values.data(), values.size());
  if (rows.naming != Naming::kText) return;
  const auto lengths = of_size(in.words("waiting_lengths"), keys.size(), "waiting_lengths");
  const auto bytes = in.bytes("waiting_names");
  std::size_t offset = 0;
  for (const std::uint64_t length : lengths) {
    if (length > bytes.size() - offset) throw BadState("state: names are cut off");
    rows.names.push_back(rows.compose({bytes.data() + offset, static_cast<std::size_t>(length)}));
    offset += static_cast<std::size_t>(length);
  }
}

void save_rows(const Batch& rows, StateWriter& out) {
  save_entries(rows, out);
  out.put("waiting_starts", std::span<const std::uint64_t>(rows.row_starts.data(), rows.row_starts.size()));
  out.put("waiting_targets", std::span<const float>(rows.targets.data(), rows.targets.size()));
  out.put("waiting_importance", std::span<const float>(rows.importance.data(), rows.importance.size()));
}

void load_rows(const StateReader& in, Batch& rows) {
  const auto targets = in.floats("waiting_targets");
  const auto importance = of_size(in.floats("waiting_importance"), targets.size(), "waiting_importance");
  const auto starts = of_size(in.words("waiting_starts"), targets.size() + 1, "waiting_starts");
  load_entries(in, rows);
  for (std::size_t row = 0; row < targets.size(); ++row)
    if (starts[row] > starts[row + 1]) throw BadState("state: rows overlap");
  if (starts.front() != 0 || starts.back() != rows.keys.size()) throw BadState("state: rows without entries");
  for (std::size_t row = 0; row < targets.size(); ++row) {
    rows.end_row({}, 0.0, importance[row], 0);
    rows.row_starts.back() = starts[row + 1];
    rows.targets.back() = targets[row];
  }
}

}  // namespace fsstream

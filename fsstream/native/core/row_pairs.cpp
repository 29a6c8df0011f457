#include "core/row_pairs.hpp"

#include <string>
#include <vector>

#include "core/errors.hpp"

namespace fsstream {

namespace {

struct Named {
  std::string raw;
  std::string escaped;
};

std::string escape(std::string_view name) {
  std::string out;
  for (const char letter : name) {
    if (letter == '*' || letter == '\\') out.push_back('\\');
    out.push_back(letter);
  }
  return out;
}

void append(Batch& to, Key key, float value, TextRef name) {
  to.keys.push_back(key);
  to.values.push_back(value);
  to.names.push_back(name);
}

void append_row_pairs(const Batch& from, std::size_t row, std::vector<Named>& names, Batch& to) {
  const std::size_t begin = from.row_begin(row);
  const std::size_t size = from.row_end(row) - begin;
  std::string scratch;
  names.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    names[i].raw = from.name(begin + i, scratch);
    names[i].escaped = escape(names[i].raw);
    append(to, from.keys[begin + i], from.values[begin + i], to.compose(names[i].escaped));
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i + 1; j < size; ++j) {
      const bool in_order = names[i].raw < names[j].raw;
      scratch = names[in_order ? i : j].escaped;
      scratch.push_back('*');
      append(to, pair_key(from.keys[begin + i], from.keys[begin + j]), from.values[begin + i] * from.values[begin + j],
             to.compose(scratch, names[in_order ? j : i].escaped));
    }
}

}  // namespace

std::size_t append_pairs(const Batch& from, std::size_t first, std::size_t enough, std::size_t most,
                         std::size_t row_number, Batch& to) {
  std::vector<Named> names;
  to.naming = Naming::kText;
  std::size_t row = first;
  for (; row < from.rows() && to.entries() < enough; ++row) {
    const std::size_t size = from.row_end(row) - from.row_begin(row);
    const std::size_t pairs = size == 0 ? 0 : size * (size - 1) / 2;
    if (pairs > most)
      throw LimitExceeded("row " + std::to_string(row_number + row - first) + " has " + std::to_string(size) +
                          " features, which make " + std::to_string(pairs) + " pairs, and " + std::to_string(most) +
                          " are allowed\n--set pairs_per_row=N allows more; --keep and --ignore leave features out");
    append_row_pairs(from, row, names, to);
    to.end_row({}, from.label_values[row], from.importance[row], 0);
    to.targets.back() = from.targets[row];
  }
  return row;
}

}  // namespace fsstream

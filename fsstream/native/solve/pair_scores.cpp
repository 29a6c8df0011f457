#include "solve/pair_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/errors.hpp"
#include "core/stop.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kRowsAStop = 1024;

// The sum after adding, rounded up: a bound must never fall below what it bounds.
void add_to_bound(CountMin& sketch, Key key, double amount) {
  const double sum = static_cast<double>(sketch.query(key)) + amount;
  sketch.raise(key, std::nextafter(static_cast<float>(sum), std::numeric_limits<float>::infinity()));
}

}  // namespace

PairScores::PairScores(const FeatureScores& scores, std::span<const double> r, double cross_factor,
                       double square_factor, std::size_t limit)
    : scores_(scores),
      r_(r.begin(), r.end()),
      cross_factor_(cross_factor),
      square_factor_(square_factor),
      limit_(limit) {
  if (scores.sketched()) {
    constexpr int kDepth = 2;
    const std::size_t cells = std::max<std::size_t>(limit / 2 / (2 * kDepth * sizeof(float)), 2);
    const std::size_t width = std::min(std::bit_floor(cells), std::size_t{1} << 30);
    up_sketch_.emplace(kDepth, width, 0);
    down_sketch_.emplace(kDepth, width, 1);
  } else {
    up_.resize(scores.features());
    down_.resize(scores.features());
  }
}

void PairScores::bound(const Batch& batch, std::size_t first_row) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const double r = r_[first_row + row];
    if (r == 0.0) continue;
    const double most = std::abs(r) * static_cast<double>(scores_.row_largest()[first_row + row]);
    std::vector<double>& side = r > 0.0 ? up_ : down_;
    CountMin* sketch = !sketched() ? nullptr : r > 0.0 ? &*up_sketch_ : &*down_sketch_;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const double term = most * std::abs(static_cast<double>(batch.values[j]));
      if (sketch != nullptr) {
        add_to_bound(*sketch, batch.keys[j], term);
        continue;
      }
      const std::uint32_t number = scores_.number_of(batch.keys[j]);
      if (number != FeatureIndex::kNone) side[number] += term;
    }
  }
}

void PairScores::bound_kept() {
  for (std::size_t p = 0; p < scores_.features(); ++p) {
    for (const KeptColumns::Entry& entry : scores_.column(p)) {
      const double r = r_[entry.row];
      const double term =
          std::abs(r * static_cast<double>(entry.value)) * static_cast<double>(scores_.row_largest()[entry.row]);
      (r > 0.0 ? up_ : down_)[p] += term;
    }
  }
}

// The slack covers the rounding of the sums.
double PairScores::bound_from(double up, double down) const {
  const double bound = scores_.negative_values() ? up + down : std::max(up, down);
  return bound * std::max(cross_factor_, square_factor_) * (1.0 + 1e-9);
}

// n (n + 1) / 2 sums of 8 bytes fit the limit.
std::size_t PairScores::most_summed() const {
  return static_cast<std::size_t>(std::max(std::sqrt(static_cast<double>(limit_) / 4.0) - 3.0, 1.0));
}

void PairScores::shortlist(const Batch& batch) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const Key key = batch.keys[j];
      if (listed_.find(key) != FeatureIndex::kNone) continue;
      const double up = static_cast<double>(up_sketch_->query(key));
      const double down = static_cast<double>(down_sketch_->query(key));
      const double bound = bound_from(up, down);
      if (bound == 0.0 || bound <= left_out_) continue;
      if (listed_keys_.size() >= 2 * most_summed()) shorten_list();
      if (bound <= left_out_) continue;
      listed_.insert(key);
      listed_keys_.push_back(key);
      up_.push_back(up);
      down_.push_back(down);
    }
  }
}

// The lower half of the list goes, by bound; ties: the larger key.
void PairScores::shorten_list() {
  std::vector<std::uint32_t> order(listed_keys_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(most_summed());
  std::nth_element(order.begin(), middle, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double x = bound_of(a);
    const double y = bound_of(b);
    return x != y ? x > y : listed_keys_[a] < listed_keys_[b];
  });
  for (auto it = middle; it != order.end(); ++it) left_out_ = std::max(left_out_, bound_of(*it));
  order.erase(middle, order.end());
  std::sort(order.begin(), order.end());
  FeatureIndex listed;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const std::uint32_t from = order[place];
    listed.insert(listed_keys_[from]);
    listed_keys_[place] = listed_keys_[from];
    up_[place] = up_[from];
    down_[place] = down_[from];
  }
  listed_ = std::move(listed);
  listed_keys_.resize(order.size());
  up_.resize(order.size());
  down_.resize(order.size());
}

std::size_t PairScores::features_above(double tau) const {
  std::size_t count = left_out_ > 0.0 && left_out_ >= tau ? 1 : 0;
  for (std::size_t number = 0; number < up_.size(); ++number) count += bound_of(number) >= tau;
  return count;
}

void PairScores::start_sums(std::size_t count) {
  const bool more_than_listed = count > up_.size() && left_out_ > 0.0;
  count = std::min(count, up_.size());
  if (more_than_listed || count > limit_ / 8 / (count + 2) * 2)
    throw LimitExceeded(
        "the products that may be among the largest do not fit the memory given to fgm\nraise --memory, or scale the "
        "rows: --normalize l2");
  std::vector<std::uint32_t> order(up_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    const double x = bound_of(a);
    const double y = bound_of(b);
    return x != y ? x > y : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count == 0 ? 0 : count - 1), order.end(),
                   larger);
  order.resize(count);
  std::sort(order.begin(), order.end());
  chosen_ = std::move(order);
  slot_of_.assign(up_.size(), FeatureIndex::kNone);
  for (std::uint32_t slot = 0; slot < count; ++slot) slot_of_[chosen_[slot]] = slot;
  sums_.assign(count * (count + 1) / 2, 0.0);
}

void PairScores::sum_row(double r) {
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const double left = r * row_[i].value;
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t high = std::max(row_[i].slot, row_[j].slot);
      const std::size_t low = std::min(row_[i].slot, row_[j].slot);
      sums_[high * (high + 1) / 2 + low] += left * row_[j].value;
    }
  }
}

void PairScores::sum(const Batch& batch, std::size_t first_row) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const double r = r_[first_row + row];
    if (r == 0.0) continue;
    row_.clear();
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t number = number_of(batch.keys[j]);
      if (number == FeatureIndex::kNone || slot_of_[number] == FeatureIndex::kNone) continue;
      row_.push_back({slot_of_[number], static_cast<double>(batch.values[j])});
    }
    sum_row(r);
  }
}

// The columns of S are turned back into rows, a few at a time being all that is needed.
void PairScores::sum_kept() {
  std::vector<std::uint64_t> starts(scores_.rows() + 1);
  for (const std::uint32_t number : chosen_)
    for (const KeptColumns::Entry& entry : scores_.column(number)) ++starts[entry.row + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Member> members(starts.back());
  std::vector<std::uint64_t> cursor(starts.begin(), starts.end() - 1);
  for (std::uint32_t slot = 0; slot < chosen_.size(); ++slot)
    for (const KeptColumns::Entry& entry : scores_.column(chosen_[slot]))
      members[cursor[entry.row]++] = {slot, static_cast<double>(entry.value)};
  for (std::size_t row = 0; row < scores_.rows(); ++row) {
    if (row % kRowsAStop == 0) leave_if_stopped();
    if (r_[row] == 0.0) continue;
    row_.assign(members.begin() + static_cast<std::ptrdiff_t>(starts[row]),
                members.begin() + static_cast<std::ptrdiff_t>(starts[row + 1]));
    sum_row(r_[row]);
  }
}

std::vector<PairScores::Scored> PairScores::best(std::size_t count, std::span<const Key> without) const {
  std::set<std::pair<Key, Key>> excluded;
  for (std::size_t j = 0; j + 1 < without.size(); j += 2) excluded.insert(std::minmax(without[j], without[j + 1]));
  const auto better = [](const Scored& a, const Scored& b) {
    const double x = std::abs(a.score);
    const double y = std::abs(b.score);
    if (x != y) return x > y;
    return a.a != b.a ? a.a < b.a : a.b < b.b;
  };
  std::vector<Scored> heap;
  for (std::size_t high = 0; high < chosen_.size() && count != 0; ++high) {
    for (std::size_t low = 0; low <= high; ++low) {
      const double score = (low == high ? square_factor_ : cross_factor_) * sums_[high * (high + 1) / 2 + low];
      if (score == 0.0 || (heap.size() == count && std::abs(score) < std::abs(heap.front().score))) continue;
      const std::pair<Key, Key> ends = std::minmax({key_of(chosen_[low]), key_of(chosen_[high])});
      const auto [a, b] = ends;
      const Scored found{a, b, score};
      if ((heap.size() == count && !better(found, heap.front())) || excluded.count(ends) != 0) continue;
      if (heap.size() == count) {
        std::pop_heap(heap.begin(), heap.end(), better);
        heap.pop_back();
      }
      heap.push_back(found);
      std::push_heap(heap.begin(), heap.end(), better);
    }
  }
  std::sort(heap.begin(), heap.end(), better);
  return heap;
}

PairCollector::PairCollector(ColumnCache& cache, std::span<const Key> pairs, double cross_factor, double square_factor)
    : cache_(cache) {
  for (std::size_t j = 0; j + 1 < pairs.size(); j += 2) {
    const Pair pair{wanted_.insert(pairs[j]), wanted_.insert(pairs[j + 1]),
                    pairs[j] == pairs[j + 1] ? square_factor : cross_factor};
    for (const Key key : {pairs[j], pairs[j + 1]})
      if (wanted_.find(key) == keys_.size()) keys_.push_back(key);
    pairs_.push_back(pair);
    columns_.push_back(static_cast<std::uint32_t>(cache_.open()));
  }
}

void PairCollector::add(const Batch& batch, std::size_t first_row) {
  std::vector<double> value(keys_.size(), 0.0);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    bool any = false;
    for (std::size_t j = batch.row_begin(row); j < batch.row_end(row); ++j) {
      const std::uint32_t wanted = wanted_.find(batch.keys[j]);
      if (wanted == FeatureIndex::kNone) continue;
      value[wanted] = static_cast<double>(batch.values[j]);
      any = true;
    }
    if (!any) continue;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const double product = value[pairs_[p].first] * value[pairs_[p].second];
      if (product != 0.0)
        cache_.append(columns_[p], static_cast<std::uint32_t>(first_row + row),
                      static_cast<float>(pairs_[p].factor * product));
    }
    std::fill(value.begin(), value.end(), 0.0);
  }
}

void PairCollector::add_kept(const FeatureScores& rows) {
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const auto left = rows.column_of(keys_[pairs_[p].first]);
    const auto right = rows.column_of(keys_[pairs_[p].second]);
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (left[i].row < right[j].row) {
        ++i;
      } else if (right[j].row < left[i].row) {
        ++j;
      } else {
        const double product = static_cast<double>(left[i].value) * static_cast<double>(right[j].value);
        if (product != 0.0) cache_.append(columns_[p], left[i].row, static_cast<float>(pairs_[p].factor * product));
        ++i;
        ++j;
      }
    }
  }
}

void PairCollector::finish() {
  for (const std::uint32_t column : columns_) cache_.seal(column);
}

}  // namespace fsstream

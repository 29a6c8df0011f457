#include "solve/column_cache.hpp"

#include <algorithm>

#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/lanes.hpp"

namespace fsstream {

namespace {

constexpr std::size_t kWorthThreads = std::size_t{1} << 17;  // numbers: waking a thread costs as much as some thousand
constexpr std::size_t kRowsAPart = 4096;

// The entries whose rows are in [first, end): rows ascend.
std::pair<std::size_t, std::size_t> entries_between(const Buffer<std::uint32_t>& rows, std::size_t first,
                                                    std::size_t end) {
  const auto* begin = rows.data();
  const auto* past = begin + rows.size();
  const auto place = [&](std::size_t row) { return row == 0 ? begin : std::lower_bound(begin, past, row); };
  return {static_cast<std::size_t>(place(first) - begin), static_cast<std::size_t>(place(end) - begin)};
}

template <class T>
void shrink(Buffer<T>& buffer) {
  Buffer<T> tight;
  tight.reserve(buffer.size());
  tight.append(buffer.data(), buffer.size());
  buffer = std::move(tight);
}

}  // namespace

std::size_t ColumnCache::open() {
  columns_.emplace_back();
  return columns_.size() - 1;
}

std::size_t ColumnCache::open_run() {
  const std::size_t first = columns_.size();
  for (std::size_t f = 0; f < map_->features(); ++f) columns_[open()].run = static_cast<std::uint32_t>(first);
  return first;
}

void ColumnCache::append(std::size_t column, std::uint32_t row, float value) {
  Column& c = columns_[column];
  c.rows.push_back(row);
  c.values.push_back(value);
  ++c.entries;
  account(c);
}

void ColumnCache::account(Column& c) {
  const std::size_t now = c.rows.capacity() * sizeof(std::uint32_t) + c.values.capacity() * sizeof(float);
  bytes_ += now - c.bytes;
  c.bytes = now;
  if (bytes_ > limit_)
    throw LimitExceeded(
        "the columns of the chosen features do not fit the memory given to fgm\nraise --memory or lower --k");
}

void ColumnCache::seal(std::size_t column) {
  Column& c = columns_[column];
  c.dense = c.entries * (sizeof(std::uint32_t) + sizeof(float)) > rows_ * sizeof(float);
  if (c.dense) {
    Buffer<float> whole;
    whole.reserve(rows_);
    whole.set_size(rows_);
    std::fill(whole.begin(), whole.end(), c.run == kNoRun ? 0.0F : kAbsent);
    for (std::size_t j = 0; j < c.entries; ++j) whole[c.rows[j]] = c.values[j];
    c.values = std::move(whole);
    c.rows = Buffer<std::uint32_t>();
  } else {
    shrink(c.rows);
    shrink(c.values);
  }
  account(c);
}

void ColumnCache::drop(std::size_t column) {
  Column& c = columns_[column];
  c.rows = Buffer<std::uint32_t>();
  c.values = Buffer<float>();
  c.entries = 0;
  c.dense = false;
  account(c);
}

std::size_t ColumnCache::take(ColumnCache& other, std::size_t column) {
  const std::size_t number = open();
  Column& from = other.columns_[column];
  std::swap(columns_[number], from);
  bytes_ += columns_[number].bytes;
  other.bytes_ -= columns_[number].bytes;
  account(columns_[number]);
  return number;
}

double ColumnCache::dot(std::size_t column, std::span<const double> r) const {
  const Column& c = columns_[column];
  const float* x = c.values.data();
  if (c.dense) return fsstream::dot(x, r.data(), rows_);
  const std::uint32_t* row = c.rows.data();
  return sum_in_eight_lanes(c.entries, [&](std::size_t j) { return static_cast<double>(x[j]) * r[row[j]]; });
}

void ColumnCache::over_rows(std::size_t work, const std::function<void(std::size_t, std::size_t)>& visit) const {
  if (team_ == nullptr || work < kWorthThreads || rows_ < 2 * kRowsAPart) {
    visit(0, rows_);
    return;
  }
  team_->run((rows_ + kRowsAPart - 1) / kRowsAPart,
             [&](std::size_t part) { visit(part * kRowsAPart, std::min(rows_, (part + 1) * kRowsAPart)); });
}

void ColumnCache::add_column(const Column& c, double a, std::size_t first, std::span<double> u) const {
  const float* x = c.values.data();
  if (c.dense) {
    add_scaled(a, x + first, u.data(), u.size());
    return;
  }
  const auto [begin, end] = entries_between(c.rows, first, first + u.size());
  for (std::size_t j = begin; j < end; ++j) u[c.rows[j] - first] += a * static_cast<double>(x[j]);
}

double ColumnCache::square_sum(const Column& c, std::span<const double> cost) const {
  const float* x = c.values.data();
  const auto square = [&](std::size_t j) { return static_cast<double>(x[j]) * static_cast<double>(x[j]); };
  if (c.dense) return sum_in_eight_lanes(rows_, [&](std::size_t i) { return cost[i] * square(i); });
  const std::uint32_t* row = c.rows.data();
  return sum_in_eight_lanes(c.entries, [&](std::size_t j) { return cost[row[j]] * square(j); });
}

// visit(begin, end): columns[begin .. end) are of one run, or one column by itself.
template <class Visit>
void ColumnCache::each_run(std::span<const std::uint32_t> columns, Visit visit) const {
  for (std::size_t begin = 0, end = 1; begin < columns.size(); begin = end, ++end) {
    const std::uint32_t run = columns_[columns[begin]].run;
    while (run != kNoRun && end < columns.size() && columns_[columns[end]].run == run) ++end;
    visit(begin, end);
  }
}

// visit(row, t) for every row that has a place.
template <class Visit>
void ColumnCache::each_place(const Column& run, std::size_t first, std::size_t end, Visit visit) {
  if (run.dense) {
    for (std::size_t i = first; i < end; ++i)
      if (run.values[i] >= 0.0F) visit(i, run.values[i]);
  } else {
    const auto [begin, past] = entries_between(run.rows, first, end);
    for (std::size_t j = begin; j < past; ++j) visit(run.rows[j], run.values[j]);
  }
}

std::size_t ColumnCache::entries(std::span<const std::uint32_t> columns) const {
  std::size_t total = 0;
  each_run(columns, [&](std::size_t begin, std::size_t) {
    const Column& c = columns_[columns[begin]];
    const Column& held = c.run == kNoRun ? c : columns_[c.run];
    total += held.dense ? rows_ : held.entries;
  });
  return total;
}

void ColumnCache::dots(std::span<const std::uint32_t> columns, std::span<const double> r, double* sums) const {
  if (team_ == nullptr || entries(columns) < kWorthThreads) {
    each_run(columns, [&](std::size_t begin, std::size_t end) {
      dots_of_run(columns.subspan(begin, end - begin), r, sums + begin);
    });
    return;
  }
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  each_run(columns, [&](std::size_t begin, std::size_t end) { runs.emplace_back(begin, end); });
  team_->run(runs.size(), [&](std::size_t part) {
    const auto [begin, end] = runs[part];
    dots_of_run(columns.subspan(begin, end - begin), r, sums + begin);
  });
}

void ColumnCache::dots_of_run(std::span<const std::uint32_t> columns, std::span<const double> r, double* sums) const {
  const std::uint32_t run = columns_[columns[0]].run;
  if (run == kNoRun) {
    sums[0] = dot(columns[0], r);
    return;
  }
  std::vector<double> knots(map_->knots()), features(map_->features());
  each_place(columns_[run], 0, rows_, [&](std::size_t i, float t) { map_->add(r[i], t, knots.data()); });
  map_->features_of(knots.data(), features.data());
  for (std::size_t j = 0; j < columns.size(); ++j) sums[j] = features[columns[j] - run];
}

void ColumnCache::add(std::span<const std::uint32_t> columns, std::span<const double> weights,
                      std::span<double> u) const {
  const std::size_t work = team_ == nullptr ? 0 : entries(columns);
  over_rows(work, [&](std::size_t first, std::size_t end) {
    add_range(columns, weights, first, u.subspan(first, end - first));
  });
}

void ColumnCache::add_range(std::span<const std::uint32_t> columns, std::span<const double> weights, std::size_t first,
                            std::span<double> u) const {
  std::vector<double> knots, features;
  each_run(columns, [&](std::size_t begin, std::size_t end) {
    const std::uint32_t run = columns_[columns[begin]].run;
    if (run == kNoRun) {
      if (weights[begin] != 0.0) add_column(columns_[columns[begin]], weights[begin], first, u);
      return;
    }
    features.assign(map_->features(), 0.0);
    knots.resize(map_->knots());
    for (std::size_t j = begin; j < end; ++j) features[columns[j] - run] = weights[j];
    map_->at_knots(features.data(), knots.data());
    each_place(columns_[run], first, first + u.size(),
               [&](std::size_t i, float t) { u[i - first] += map_->read(knots.data(), t); });
  });
}

void ColumnCache::square_sums(std::span<const std::uint32_t> columns, std::span<const double> cost,
                              double* sums) const {
  std::vector<double> knots, features;
  each_run(columns, [&](std::size_t begin, std::size_t end) {
    const std::uint32_t run = columns_[columns[begin]].run;
    if (run == kNoRun) {
      sums[begin] = square_sum(columns_[columns[begin]], cost);
      return;
    }
    knots.assign(3 * map_->knots(), 0.0);
    features.resize(map_->features());
    each_place(columns_[run], 0, rows_, [&](std::size_t i, float t) { map_->add_square(cost[i], t, knots.data()); });
    map_->squares_of(knots.data(), features.data());
    for (std::size_t j = begin; j < end; ++j) sums[j] = features[columns[j] - run];
  });
}

}  // namespace fsstream

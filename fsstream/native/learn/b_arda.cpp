#include "learn/b_arda.hpp"

#include <cmath>
#include <string>

#include "core/errors.hpp"
#include "learn/limits.hpp"

namespace fsstream {

BArda::BArda(Loss loss, const BudgetedOptions& options)
    : loss_(loss), options_(options), order_(table_, options.budget, options.lambda > 0.0) {
  bias_.line.spread = options.delta;
}

std::size_t BArda::bytes_with(std::size_t features) const {
  return table_.bytes_with(features) + order_.bytes(table_.capacity_for(features)) + names_.bytes();
}

// Room for a row whose features are all new.
void BArda::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t most = table_.size() + entries;
  check_memory(bytes_with(most) + names_.bytes_of(batch, entries), options_.memory, table_.size());
  found_.resize(std::max(found_.size(), entries));
  names_.reserve(batch, table_.size(), most);
  if (most <= table_.capacity()) return;
  table_.reserve(most);
  order_.reserve();
}

double BArda::predict(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  const Key* keys = batch.keys.data() + begin;
  const float* values = batch.values.data() + begin;
  for (std::size_t j = 0; j < count; ++j) table_.prefetch(keys[j]);
  double u = options_.intercept ? intercept() : 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    const Slot slot = table_.find(keys[j]);
    found_[j] = slot;
    if (slot == kNobody || !order_.is_member(slot)) continue;
    u += weight(table_[slot]) * static_cast<double>(values[j]);
  }
  return u;
}

void BArda::add_gradient(DualRecord& feature, double g) const {
  feature.sum += g;
  feature.squares += g * g;
  draw_line(feature);
}

// The place in the truncation's order that follows from the sums.
void BArda::draw_line(DualRecord& feature) const {
  const double h = options_.delta + std::sqrt(feature.squares);
  feature.line = {std::abs(feature.sum) * (options_.weighted ? std::sqrt(h) : 1.0), h};
}

void BArda::descend(const Batch& batch, std::size_t row, double slope) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  const bool most = 2 * count > table_.size();
  for (std::size_t j = 0; j < count; ++j) {
    const double g = slope * static_cast<double>(batch.values[begin + j]);
    if (g == 0.0) continue;
    Slot slot = found_[j];
    if (slot == kNobody) {
      DualRecord fresh;
      fresh.key = batch.keys[begin + j];
      add_gradient(fresh, g);
      slot = table_.add(fresh);
      names_.keep(slot, batch, begin + j);
      order_.enter(slot);
    } else {
      add_gradient(table_[slot], g);
      if (order_.is_member(slot)) names_.check(slot, batch, begin + j);
      if (!most) order_.touch(slot);
    }
  }
  if (options_.intercept) add_gradient(bias_, slope);
  if (most) order_.rebuild();
}

void BArda::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    const double u = predict(batch, row);
    scores[row] = static_cast<float>(u);
    const double slope = loss_.slope(u, batch.targets[row]) * static_cast<double>(batch.importance[row]);
    check_range(batch, row, slope);
    ++steps_;
    order_.advance(tau());
    if (slope != 0.0) descend(batch, row, slope);
    order_.settle();
  }
}

std::vector<Chosen> BArda::chosen() const {
  std::vector<Chosen> out;
  for (const Slot slot : order_.members()) {
    const DualRecord& feature = table_[slot];
    const auto w = static_cast<float>(weight(feature));
    if (w != 0.0F) out.push_back({feature.key, w, names_.spell(slot, feature.key)});
  }
  return out;
}

void BArda::save(StateWriter& out) const {
  std::vector<Key> keys;
  std::vector<double> sums{bias_.sum};
  std::vector<double> squares{bias_.squares};
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    keys.push_back(table_[slot].key);
    sums.push_back(table_[slot].sum);
    squares.push_back(table_[slot].squares);
  }
  out.put("steps", std::span<const std::uint64_t>(&steps_, 1));
  out.put("keys", std::span<const std::uint64_t>(keys));
  out.put("sums", std::span<const double>(sums));
  out.put("squares", std::span<const double>(squares));
  names_.save(out, table_.size());
}

void BArda::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto sums = of_size(in.doubles("sums"), keys.size() + 1, "sums");
  const auto squares = of_size(in.doubles("squares"), keys.size() + 1, "squares");
  check_state(in_range(sums) && in_range(squares) && not_negative(squares));
  steps_ = of_size(in.words("steps"), 1, "steps")[0];
  const auto restore = [&](DualRecord& feature, std::size_t i) {
    feature.sum = sums[i];
    feature.squares = squares[i];
    draw_line(feature);
  };
  restore(bias_, 0);
  table_.reserve(keys.size());
  order_.reserve();
  order_.advance(tau());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    DualRecord feature;
    feature.key = keys[i];
    restore(feature, i + 1);
    order_.enter(table_.add(feature));
  }
  order_.settle();
  names_.load(in, keys.size());
}

}  // namespace fsstream

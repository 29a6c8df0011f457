#include "learn/b_arda.hpp"

#include <cmath>
#include <string>

#include "core/errors.hpp"
#include "learn/limits.hpp"
#include "sketch/warm_up.hpp"

namespace fsstream {

BArda::BArda(Loss loss, const BudgetedOptions& options)
    : OnlineLearner(options.memory),
      loss_(loss),
      options_(options),
      rate_(options.eta),
      order_(table_, options.budget, options.lambda > 0.0, options.sketch_width != 0) {
  bias_.line.spread = options.delta;
  if (options.sketch_width == 0) return;
  sketch_.emplace(options.sketch_depth, options.sketch_width, options.seed);
  squares_ = CountMin(2, options.sketch_width, options.seed + 1);
  table_.reserve(working_set());
  order_.reserve();
}

std::size_t BArda::bytes_with(std::size_t features) const {
  return table_.bytes_with(features) + order_.bytes(table_.capacity_for(features)) + names_.bytes() +
         (exact() ? 0 : sketch_->bytes() + squares_.bytes());
}

// Room for a row whose features are all new.
void BArda::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t all = table_.size() + entries;
  const std::size_t most = exact() ? all : std::min(all, working_set());
  check_memory(batch, bytes_with(most) + names_.bytes_of(batch, most - table_.size()), memory(), table_.size(),
               Store::kTableOrSketch);
  found_.resize(std::max(found_.size(), entries));
  for (auto* list : {&members_, &outsiders_, &others_}) list->reserve(entries);
  names_.reserve(batch, table_.size(), most);
  if (most <= table_.capacity()) return;
  table_.reserve(most);
  order_.reserve();
}

double BArda::predict(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  const float* values = batch.values.data() + begin;
  table_.find_all(batch.keys.data() + begin, count, found_.data());
  part_row(count);
  double u = options_.intercept ? intercept() : 0.0;
  for (const std::uint32_t j : members_.span()) u += weight(table_[found_[j]]) * static_cast<double>(values[j]);
  return u;
}

// Who is a member can't be guessed from one entry to the next: both lists are written to, one grows.
void BArda::part_row(std::size_t count) {
  std::uint32_t* const members = members_.data();
  std::uint32_t* const outsiders = outsiders_.data();
  const Slot* const found = found_.data();
  std::size_t seated = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    members[seated] = outsiders[j - seated] = j;
    seated += order_.is_member(found[j]) ? 1 : 0;
  }
  members_.set_size(seated);
  outsiders_.set_size(count - seated);
}

void BArda::add_gradient(DualRecord& feature, double g) const {
  feature.sum += g;
  feature.squares += g * g;
  draw_line(feature);
}

// The place in the truncation's order that follows from the sums.
void BArda::draw_line(DualRecord& feature) const {
  const double h = options_.delta + __builtin_sqrt(feature.squares);
  feature.line = {std::abs(feature.sum) * (options_.weighted ? __builtin_sqrt(h) : 1.0), h};
}

// Parts those without a slot from the outsiders, and leaves out those that do not move.
void BArda::find_others(const Batch& batch, std::size_t begin, double slope) {
  std::size_t known = 0;
  others_.clear();
  for (const std::uint32_t j : outsiders_.span()) {
    if (slope * static_cast<double>(batch.values[begin + j]) == 0.0) continue;
    if (found_[j] == kNobody)
      others_.push_back(j);
    else
      outsiders_[known++] = j;
  }
  outsiders_.set_size(known);
}

void BArda::descend(const Batch& batch, std::size_t row, double slope) {
  const std::size_t begin = batch.row_begin(row);
  find_others(batch, begin, slope);
  if (!exact()) look_up_others(batch, begin);
  const bool most = 2 * (batch.row_end(row) - begin) > table_.size();
  if (most) order_.defer();
  for (const std::uint32_t j : members_.span()) {
    const double g = slope * static_cast<double>(batch.values[begin + j]);
    if (g == 0.0) continue;
    add_gradient(table_[found_[j]], g);
    names_.check(found_[j], batch, begin + j);
    order_.touch_member(found_[j]);
  }
  for (const std::uint32_t j : outsiders_.span()) {
    const double g = slope * static_cast<double>(batch.values[begin + j]);
    add_gradient(table_[found_[j]], g);
    order_.touch_outsider(found_[j]);
  }
  if (most) order_.rebuild();
  if (options_.intercept) add_gradient(bias_, slope);
  if (exact())
    meet(batch, begin, slope);
  else
    add_to_sketch(batch, begin, slope);
}

// store = exact: the row's new features get their records.
void BArda::meet(const Batch& batch, std::size_t begin, double slope) {
  for (const std::uint32_t j : others_.span()) {
    DualRecord fresh;
    fresh.key = batch.keys[begin + j];
    add_gradient(fresh, slope * static_cast<double>(batch.values[begin + j]));
    const Slot slot = table_.add(fresh);
    names_.keep(slot, batch, begin + j);
    order_.enter(slot);
  }
}

// Where the sketches keep what has no slot; memory is asked for it, and brings it while the slots are touched.
void BArda::look_up_others(const Batch& batch, std::size_t begin) {
  const std::size_t count = others_.size();
  const auto depth = static_cast<std::size_t>(squares_.depth());
  keys_of_.resize(count);
  places_.resize(count * depth);
  for (std::size_t i = 0; i < count; ++i) {
    keys_of_[i] = batch.keys[begin + others_[i]];
    squares_.locate(keys_of_[i], places_.data() + i * depth);
  }
  squares_.prefetch(places_.data(), places_.size());
  sketch_->hash(keys_of_.data(), count, hashed_);
  warm_up(sketch_->rows(hashed_, 0), sketch_->depth(), count);
}

// store = sketch: what has no slot is added to the sketches, and measured by what they say then.
void BArda::add_to_sketch(const Batch& batch, std::size_t begin, double slope) {
  const std::size_t count = others_.size();
  steps_of_.resize(count);
  estimates_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    steps_of_[i] = static_cast<float>(slope * static_cast<double>(batch.values[begin + others_[i]]));
  const SketchRows rows = sketch_->rows(hashed_, 0);
  sketch_->kernels().estimate(rows, count, estimates_.data());
  sketch_->kernels().add(rows, count, steps_of_.data());
  const std::size_t* place = places_.data();
  for (std::size_t i = 0; i < count; ++i, place += squares_.depth()) {
    const float g = steps_of_[i];
    DualRecord fresh;
    fresh.key = keys_of_[i];
    fresh.sum = static_cast<double>(estimates_[i]) + static_cast<double>(g);
    fresh.squares = static_cast<double>(squares_.add_at(place, g * g));
    draw_line(fresh);
    consider(batch, begin + others_[i], fresh);
  }
}

// A slot of the working set for a feature that beats its weakest.
void BArda::consider(const Batch& batch, std::size_t j, const DualRecord& fresh) {
  if (table_.size() < working_set()) {
    const Slot slot = table_.add(fresh);
    names_.keep(slot, batch, j);
    order_.enter(slot);
    return;
  }
  const Slot slot = order_.weakest_outsider();
  if (!stronger(fresh.line, fresh.key, table_[slot].line, table_[slot].key, tau_)) return;
  const DualRecord leaving = table_[slot];
  sketch_->add(leaving.key, static_cast<float>(leaving.sum) - sketch_->query(leaving.key));
  squares_.raise(leaving.key, static_cast<float>(leaving.squares));
  DualRecord entering = fresh;
  entering.seat = leaving.seat;
  entering.level = leaving.level;
  table_.replace(slot, entering);
  names_.keep(slot, batch, j);
  order_.touch_outsider(slot);
}

void BArda::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    const double u = predict(batch, row);
    scores[row] = static_cast<float>(u);
    const double slope = loss_.slope(u, batch.targets[row]) * static_cast<double>(batch.importance[row]);
    check_range(batch, row, slope);
    rate_.meet(batch, row);
    ++steps_;
    tau_ = std::max(tau_, options_.lambda * rate_.eta() * static_cast<double>(steps_));
    order_.advance(tau_);
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
  const auto record = [this](std::size_t i) -> const DualRecord& {
    return i == 0 ? bias_ : table_[static_cast<Slot>(i - 1)];
  };
  const std::size_t records = table_.size() + 1;
  const std::vector<double> rate{rate_.logs(), static_cast<double>(rate_.rows()), tau_};
  out.put("rate", std::span<const double>(rate));
  out.put("steps", std::span<const std::uint64_t>(&steps_, 1));
  put_each<std::uint64_t>(out, "keys", table_.size(), [&](std::size_t i) { return record(i + 1).key; });
  put_each<double>(out, "sums", records, [&](std::size_t i) { return record(i).sum; });
  put_each<double>(out, "squares", records, [&](std::size_t i) { return record(i).squares; });
  out.put("sum_cells", exact() ? std::span<const float>() : sketch_->cells());
  out.put("square_cells", squares_.cells());
  names_.save(out, table_.size());
}

void BArda::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto sums = of_size(in.doubles("sums"), keys.size() + 1, "sums");
  const auto squares = of_size(in.doubles("squares"), keys.size() + 1, "squares");
  const auto rate = of_size(in.doubles("rate"), 3, "rate");
  check_state(in_range(rate) && not_negative(rate) && in_range(sums) && in_range(squares) && not_negative(squares));
  steps_ = of_size(in.words("steps"), 1, "steps")[0];
  rate_.restore(rate[0], rate[1]);
  tau_ = rate[2];
  check_state(exact() || keys.size() <= working_set());
  in.read("sum_cells", exact() ? std::span<float>() : sketch_->cells());
  in.read("square_cells", squares_.cells());
  const auto restore = [&](DualRecord& feature, std::size_t i) {
    feature.sum = sums[i];
    feature.squares = squares[i];
    draw_line(feature);
  };
  restore(bias_, 0);
  table_.reserve(keys.size());
  order_.reserve();
  order_.advance(tau_);
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

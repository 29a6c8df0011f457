#include "learn/b_amd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/multiversion.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

struct Seats {
  double* weights;
  double* scores;
  double* squares;
  const double* values;
  std::size_t count;
  double slope, eta, lambda, delta;
  bool weighted;
};

// The mirror descent step of every seat.
void sweep_seats(const Seats& s) {
  for (std::size_t i = 0; i < s.count; ++i) {
    const double w = s.weights[i];
    const double g = s.slope * s.values[i] + s.lambda * w;
    const double squares = s.squares[i] + g * g;
    const double h = s.delta + __builtin_sqrt(squares);
    const double z = w - s.eta * g / h;
    s.squares[i] = squares;
    s.weights[i] = z;
    s.scores[i] = s.weighted ? std::abs(h * w - s.eta * g) : std::abs(z);
  }
}

}  // namespace

BAmd::BAmd(Loss loss, const BudgetedOptions& options)
    : OnlineLearner(options.memory), loss_(loss), options_(options), rate_(options.eta), set_(options.budget) {
  if (options.sketch_width != 0) sketch_ = CountMin(2, options.sketch_width, options.seed);
}

std::size_t BAmd::bytes_with(std::size_t features) const {
  const std::size_t seats = std::min(features, options_.budget);
  return table_.bytes_with(features) + sketch_.bytes() + set_.bytes(seats) + names_.bytes() +
         seats * (sizeof(Slot) + 2 * sizeof(double));
}

void BAmd::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t most = table_.size() + entries;
  const std::size_t slots = exact() ? most : std::min(most, options_.budget);
  check_memory(batch, bytes_with(slots) + names_.bytes_of(batch, slots - table_.size()), memory(), table_.size(),
               Store::kTableOrSketch);
  found_.resize(std::max(found_.size(), entries));
  table_.reserve(slots);
  set_.reserve(entries);
  names_.reserve(batch, table_.size(), slots);
  resize_seats(std::min(slots, options_.budget));
}

void BAmd::resize_seats(std::size_t seats) {
  if (seats <= slots_.size()) return;
  slots_.resize(seats);
  squares_.resize(seats);
  values_.resize(seats);
}

double BAmd::predict(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t end = batch.row_end(row);
  table_.find_all(batch.keys.data() + begin, end - begin, found_.data());
  double u = options_.intercept ? bias_ : 0.0;
  members_.clear();
  for (std::size_t j = begin; j < end; ++j) {
    const Slot slot = found_[j - begin];
    if (slot == kNobody || table_[slot].seat == kNobody) continue;
    members_.push_back({j, slot});
    u += set_.weight(table_[slot].seat) * static_cast<double>(batch.values[j]);
  }
  return u;
}

double BAmd::truncation_score(double h, double w, double g) const {
  return options_.weighted ? std::abs(h * w - rate_.eta() * g) : std::abs(w - rate_.eta() * g / h);
}

// lambda = 0: only the weights of the row's features move.
void BAmd::move_row(const Batch& batch, double slope) {
  for (const auto& [j, slot] : members_) {
    const Slot seat = table_[slot].seat;
    const double g = slope * static_cast<double>(batch.values[j]);
    squares_[seat] += g * g;
    const double h = options_.delta + std::sqrt(squares_[seat]);
    set_.score(seat) = truncation_score(h, set_.weight(seat), g);
    set_.weight(seat) -= rate_.eta() * g / h;
    set_.touch(seat);
  }
}

// lambda > 0: all weights move.
void BAmd::sweep(const Batch& batch, double slope) {
  static const auto kSweep = Compiled<&sweep_seats>::best();
  for (const auto& [j, slot] : members_) values_[table_[slot].seat] = static_cast<double>(batch.values[j]);
  kSweep({set_.weights().data(), set_.scores().data(), squares_.data(), values_.data(), set_.size(), slope, rate_.eta(),
          options_.lambda, options_.delta, options_.weighted});
  for (const auto& [j, slot] : members_) values_[table_[slot].seat] = 0.0;
  stale_ = true;
  floor_ = std::numeric_limits<double>::infinity();
  for (const double score : set_.scores()) floor_ = std::min(floor_, score);
}

void BAmd::move_bias(double slope) {
  bias_squares_ += slope * slope;
  bias_ -= rate_.eta() * slope / (options_.delta + std::sqrt(bias_squares_));
}

bool BAmd::admits(Key key, double score) {
  if (!set_.full()) return true;
  if (stale_ && score < floor_) return false;
  if (stale_) set_.rebuild();
  stale_ = false;
  return set_.admits(key, score);
}

// The weakest member becomes an ordinary feature again.
void BAmd::unseat() {
  const Slot seat = set_.weakest();
  Seen& leaving = table_[slots_[seat]];
  leaving.squares = squares_[seat];
  leaving.seat = kNobody;
  if (!exact()) sketch_.raise(leaving.key, static_cast<float>(leaving.squares));
}

// A feature of the row that had no weight.
void BAmd::offer(const Batch& batch, std::size_t j, Slot slot, double g) {
  const Key key = batch.keys[j];
  double squares = g * g;
  if (!exact()) {
    squares = static_cast<double>(sketch_.add(key, static_cast<float>(squares)));
  } else {
    if (slot == kNobody) {
      slot = table_.add({key, 0.0, kNobody});
      names_.keep(slot, batch, j);
    }
    squares = table_[slot].squares += squares;
  }
  const double h = options_.delta + std::sqrt(squares);
  const double score = truncation_score(h, 0.0, g);
  if (!admits(key, score)) return;
  const bool full = set_.full();
  if (full) unseat();
  const Slot seat = set_.enter(key, -rate_.eta() * g / h, score);
  floor_ = std::min(floor_, score);
  if (!exact()) {
    slot = full ? slots_[seat] : static_cast<Slot>(table_.size());
    const Seen entering{key, squares, seat};
    if (full)
      table_.replace(slot, entering);
    else
      table_.add(entering);
    names_.keep(slot, batch, j);
  }
  take_seat(slot, seat);
}

void BAmd::take_seat(Slot slot, Slot seat) {
  table_[slot].seat = seat;
  slots_[seat] = slot;
  squares_[seat] = table_[slot].squares;
}

// Those that had no weight before the row: a member that lost its seat to one of them is none.
void BAmd::offer_others(const Batch& batch, std::size_t row, double slope) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t end = batch.row_end(row);
  auto member = members_.begin();
  for (std::size_t j = begin; j < end; ++j) {
    if (member != members_.end() && member->entry == j) {
      ++member;
      continue;
    }
    const double g = slope * static_cast<double>(batch.values[j]);
    if (g != 0.0) offer(batch, j, found_[j - begin], g);
  }
}

void BAmd::descend(const Batch& batch, std::size_t row, double slope) {
  if (options_.lambda > 0.0) {
    sweep(batch, slope);
  } else if (slope != 0.0) {
    move_row(batch, slope);
  }
  if (slope == 0.0) return;
  if (options_.intercept) move_bias(slope);
  for (const auto& [j, slot] : members_) names_.check(slot, batch, j);
  offer_others(batch, row, slope);
}

void BAmd::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    const double u = predict(batch, row);
    scores[row] = static_cast<float>(u);
    const double slope = loss_.slope(u, batch.targets[row]) * static_cast<double>(batch.importance[row]);
    check_range(batch, row, slope);
    rate_.meet(batch, row);
    descend(batch, row, slope);
  }
}

std::vector<Chosen> BAmd::chosen() const {
  std::vector<Chosen> out;
  for (Slot seat = 0; seat < set_.size(); ++seat) {
    const auto w = static_cast<float>(set_.weight(seat));
    if (w != 0.0F) out.push_back({set_.key(seat), w, names_.spell(slots_[seat], set_.key(seat))});
  }
  return out;
}

// Members first, in the order of their seats: a sweep's sums do not depend on it, ties neither.
void BAmd::save(StateWriter& out) const {
  const std::vector<double> bias{bias_, bias_squares_, rate_.logs(), static_cast<double>(rate_.rows())};
  std::vector<Slot> order(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(set_.size()));
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    if (table_[slot].seat != kNobody) continue;
    order.push_back(slot);
  }
  put_each<std::uint64_t>(out, "keys", order.size(), [&](std::size_t i) { return table_[order[i]].key; });
  put_each<double>(out, "squares", order.size(),
                   [&](std::size_t i) { return i < set_.size() ? squares_[i] : table_[order[i]].squares; });
  out.put("weights", set_.weights());
  out.put("scores", set_.scores());
  out.put("bias", std::span<const double>(bias));
  out.put("cells", sketch_.cells());
  names_.save(out, order.size(), [&](std::size_t i) { return order[i]; });
}

void BAmd::load(const StateReader& in) {
  const auto keys = in.words("keys");
  const auto squares = of_size(in.doubles("squares"), keys.size(), "squares");
  const auto weights = in.doubles("weights");
  const auto scores = of_size(in.doubles("scores"), weights.size(), "scores");
  const auto bias = of_size(in.doubles("bias"), 4, "bias");
  check_state(weights.size() <= std::min(options_.budget, keys.size()) && in_range(squares) && not_negative(squares) &&
              in_range(weights) && in_range(scores) && in_range(bias) && not_negative(bias.subspan(1)) &&
              (exact() || keys.size() == weights.size()));
  bias_ = bias[0];
  bias_squares_ = bias[1];
  rate_.restore(bias[2], bias[3]);
  in.read("cells", sketch_.cells());
  table_.reserve(keys.size());
  set_.reserve(weights.size());
  resize_seats(weights.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Slot slot = table_.add({keys[i], squares[i], kNobody});
    if (i < weights.size()) take_seat(slot, set_.enter(keys[i], weights[i], scores[i]));
  }
  names_.load(in, keys.size());
}

}  // namespace fsstream

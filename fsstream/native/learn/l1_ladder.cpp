#include "learn/l1_ladder.hpp"

#include <algorithm>
#include <cmath>

#include "core/multiversion.hpp"
#include "learn/limits.hpp"

namespace fsstream {

namespace {

double toward_zero(double size, double amount, double sign_of) {
  const double left = size - amount;
  return std::copysign(left > 0.0 ? left : 0.0, sign_of);
}

// One feature on all rungs.
struct Lanes {
  const double* first;  // sums of gradients, or weights
  const double* squares;
  const double* lambdas;
  std::size_t rungs;
  double eta, delta;
  double passed;  // steps (dual averaging), or the sum of eta since the feature was touched
  double* weights;
};

void weigh_dual(const Lanes& f) {
  for (std::size_t r = 0; r < f.rungs; ++r) {
    const double h = f.delta + __builtin_sqrt(f.squares[r]);
    f.weights[r] = f.eta / h * toward_zero(std::abs(f.first[r]), f.lambdas[r] * f.passed, -f.first[r]);
  }
}

void weigh_mirror(const Lanes& f) {
  for (std::size_t r = 0; r < f.rungs; ++r) {
    const double h = f.delta + __builtin_sqrt(f.squares[r]);
    f.weights[r] = toward_zero(std::abs(f.first[r]), f.passed * (f.lambdas[r] / h), f.first[r]);
  }
}

// The step of one feature with value x; `weights` are those it predicted with.
struct Step {
  double* first;
  double* squares;
  const double* slopes;
  const double* lambdas;
  const double* weights;
  std::size_t rungs;
  double x, eta, delta;
};

void step_dual(const Step& s) {
  for (std::size_t r = 0; r < s.rungs; ++r) {
    const double g = s.slopes[r] * s.x;
    s.first[r] += g;
    s.squares[r] += g * g;
  }
}

void step_mirror(const Step& s) {
  for (std::size_t r = 0; r < s.rungs; ++r) {
    const double g = s.slopes[r] * s.x;
    s.squares[r] += g * g;
    const double rate = s.eta / (s.delta + __builtin_sqrt(s.squares[r]));
    const double u = s.weights[r] - rate * g;
    s.first[r] = toward_zero(std::abs(u), s.lambdas[r] * rate, u);
  }
}

}  // namespace

L1Ladder::L1Ladder(L1Method method, Loss loss, const L1Options& options)
    : OnlineLearner(options.memory),
      method_(method),
      loss_(loss),
      options_(options),
      rate_(options.eta),
      bias_(2 * options.rungs.size()),
      predictions_(options.rungs.size()),
      slopes_(options.rungs.size()) {}

std::size_t L1Ladder::bytes_with(std::size_t features) const {
  return table_.bytes_with(features) + (2 * features + 1) * rungs() * sizeof(double) + names_.bytes();
}

void L1Ladder::reserve(const Batch& batch, std::size_t entries) {
  const std::size_t most = table_.size() + entries;
  check_memory(batch, bytes_with(most) + names_.bytes_of(batch, entries), memory(), table_.size(), Store::kTableOnly);
  found_.resize(std::max(found_.size(), entries));
  weights_.resize(std::max(weights_.size(), entries * rungs()));
  table_.reserve(most);
  numbers_.reserve(2 * rungs() * table_.capacity());
  names_.reserve(batch, table_.size(), most);
}

void L1Ladder::weigh(Slot slot, double* weights) const {
  static const auto kDual = Compiled<&weigh_dual>::best();
  static const auto kMirror = Compiled<&weigh_mirror>::best();
  const bool dual = method_ == L1Method::kDualAveraging;
  const double passed = dual ? static_cast<double>(steps_) : path_ - table_[slot].path;
  (dual ? kDual : kMirror)(
      {first(slot), squares(slot), options_.rungs.data(), rungs(), rate_.eta(), options_.delta, passed, weights});
}

// What the intercept is on a rung: no l1 weight is laid on it.
double L1Ladder::bias_weight(std::size_t rung) const {
  if (method_ == L1Method::kMirrorDescent) return bias_[rung];
  return rate_.eta() * (0.0 - bias_[rung]) / (options_.delta + std::sqrt(bias_[rungs() + rung]));  // never -0.0
}

void L1Ladder::predict(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  table_.find_all(batch.keys.data() + begin, count, found_.data());
  for (std::size_t r = 0; r < rungs(); ++r) predictions_[r] = options_.intercept ? bias_weight(r) : 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    const Slot slot = found_[j];
    double* weights = weights_.data() + j * rungs();
    if (slot == kNobody) {
      std::fill_n(weights, rungs(), 0.0);
      continue;
    }
    weigh(slot, weights);
    const double x = batch.values[begin + j];
    for (std::size_t r = 0; r < rungs(); ++r) predictions_[r] += weights[r] * x;
  }
}

void L1Ladder::move(Slot slot, const double* weights, double x) {
  static const auto kDual = Compiled<&step_dual>::best();
  static const auto kMirror = Compiled<&step_mirror>::best();
  const bool dual = method_ == L1Method::kDualAveraging;
  (dual ? kDual : kMirror)({first(slot), squares(slot), slopes_.data(), options_.rungs.data(), weights, rungs(), x,
                            rate_.eta(), options_.delta});
  table_[slot].path = path_;
}

void L1Ladder::move_bias() {
  for (std::size_t r = 0; r < rungs(); ++r) {
    double& squares = bias_[rungs() + r];
    squares += slopes_[r] * slopes_[r];
    const bool dual = method_ == L1Method::kDualAveraging;
    bias_[r] += dual ? slopes_[r] : -rate_.eta() * slopes_[r] / (options_.delta + std::sqrt(squares));
  }
}

void L1Ladder::descend(const Batch& batch, std::size_t row) {
  const std::size_t begin = batch.row_begin(row);
  const std::size_t count = batch.row_end(row) - begin;
  for (std::size_t j = 0; j < count; ++j) {
    if (batch.values[begin + j] == 0.0F) continue;
    Slot slot = found_[j];
    if (slot == kNobody) {
      slot = table_.add({batch.keys[begin + j], 0.0});
      numbers_.set_size(numbers_.size() + 2 * rungs());
      std::fill_n(first(slot), 2 * rungs(), 0.0);
      names_.keep(slot, batch, begin + j);
    } else {
      names_.check(slot, batch, begin + j);
    }
    move(slot, weights_.data() + j * rungs(), batch.values[begin + j]);
  }
  if (options_.intercept) move_bias();
}

void L1Ladder::update(const Batch& batch, float* scores) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    reserve(batch, batch.row_end(row) - batch.row_begin(row));
    predict(batch, row);
    scores[row] = static_cast<float>(predictions_[leader_]);
    bool still = true;
    for (std::size_t r = 0; r < rungs(); ++r) {
      slopes_[r] = loss_.slope(predictions_[r], batch.targets[row]) * static_cast<double>(batch.importance[row]);
      check_range(batch, row, slopes_[r]);
      still = still && slopes_[r] == 0.0;
    }
    rate_.meet(batch, row);
    ++steps_;
    path_ += rate_.eta();
    if (!still) descend(batch, row);
    // Which rung is to speak is looked up at steps 1, 2, 4, 8, ...
    if ((steps_ & (steps_ - 1)) == 0) leader_ = best_rung();
  }
}

std::vector<std::uint64_t> L1Ladder::counts() const {
  std::vector<std::uint64_t> out(rungs());
  std::vector<double> weights(rungs());
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    weigh(slot, weights.data());
    for (std::size_t r = 0; r < rungs(); ++r) out[r] += weights[r] != 0.0;
  }
  return out;
}

std::size_t L1Ladder::best_rung() const {
  if (rungs() == 1) return 0;
  const std::vector<std::uint64_t> left = counts();
  std::size_t best = rungs() - 1;
  for (std::size_t r = rungs(); r-- > 0;)
    if (left[r] >= options_.k && (left[r] <= left[best] || left[best] < options_.k)) best = r;
  return best;
}

std::vector<Chosen> L1Ladder::chosen() const {
  std::vector<Chosen> out;
  std::vector<double> weights(rungs());
  const std::size_t rung = best_rung();
  for (Slot slot = 0; slot < table_.size(); ++slot) {
    weigh(slot, weights.data());
    const auto w = static_cast<float>(weights[rung]);
    if (w != 0.0F) out.push_back({table_[slot].key, w, names_.spell(slot, table_[slot].key)});
  }
  return out;
}

void L1Ladder::save(StateWriter& out) const {
  const std::vector<std::uint64_t> counters{steps_, leader_};
  out.put("counters", std::span<const std::uint64_t>(counters));
  put_each<std::uint64_t>(out, "keys", table_.size(), [&](std::size_t i) { return table_[static_cast<Slot>(i)].key; });
  const double first[] = {path_, rate_.logs(), static_cast<double>(rate_.rows())};
  put_each<double>(out, "paths", std::size(first) + table_.size(), [&](std::size_t i) {
    return i < std::size(first) ? first[i] : table_[static_cast<Slot>(i - std::size(first))].path;
  });
  out.put("numbers", numbers_.span());
  out.put("bias", std::span<const double>(bias_));
  names_.save(out, table_.size());
}

void L1Ladder::load(const StateReader& in) {
  const auto counters = of_size(in.words("counters"), 2, "counters");
  const auto keys = in.words("keys");
  const auto paths = of_size(in.doubles("paths"), keys.size() + 3, "paths");
  const auto numbers = of_size(in.doubles("numbers"), 2 * rungs() * keys.size(), "numbers");
  const auto bias = of_size(in.doubles("bias"), bias_.size(), "bias");
  check_state(counters[1] < rungs() && in_range(numbers) && in_range(bias) && in_range(paths) && not_negative(paths));
  steps_ = counters[0];
  leader_ = counters[1];
  path_ = paths[0];
  rate_.restore(paths[1], paths[2]);
  bias_.assign(bias.begin(), bias.end());
  table_.reserve(keys.size());
  numbers_.reserve(2 * rungs() * table_.capacity());
  numbers_.append(numbers.data(), numbers.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table_.add({keys[i], paths[i + 3]});
    check_state(not_negative({squares(i), rungs()}));
  }
  check_state(not_negative(std::span<const double>(bias_).subspan(rungs())));
  names_.load(in, keys.size());
}

}  // namespace fsstream

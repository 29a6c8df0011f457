#include "learn/final_refit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/buffer.hpp"
#include "hash/mix.hpp"
#include "learn/flow.hpp"

namespace fsstream {

namespace {

constexpr double kRidge = 2.0;  // while columns go
constexpr double kLargestRidge = 128.0;
constexpr double kLeastRidge = 0.5;
constexpr double kRidgeStep = 4.0;
constexpr std::size_t kHeldOut = 5;  // of so many rows one
constexpr double kStays = 0.7;       // of the columns, from fit to fit
constexpr double kRough = 1e-2;      // of the gradient, as a share of that at z = 0: for choosing
constexpr double kFine = 1e-3;       // for what is written
constexpr int kMostSteps = 100;
constexpr int kMostProducts = 200;   // of a step
constexpr double kLeastGain = 1e-4;  // of what the slope promises

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The rows over the columns at hand, in units of the columns; behind the last z lies b.
class Problem {
 public:
  Problem(const Batch& rows, std::span<const Key> candidates, std::span<const double> means, const Loss& loss,
          bool intercept);

  std::size_t columns() const { return units_.size(); }
  // After a fit: the column's claim to stay.
  double claim(std::size_t column) const { return std::fabs(z_[column]) * std::sqrt(std::sqrt(diagonal_[column])); }
  double weight(std::size_t column) const { return z_[column] / units_[column]; }
  double intercept() const { return base_ + z_.back(); }
  // Until the gradient is that share of what it is at z = 0.
  void solve(double accuracy);
  // The ridge with which a fit to four fifths of the rows says most of the others; what was solved is forgotten.
  double best_ridge();
  void set_ridge(double ridge) { ridge_ = ridge; }
  // Only these columns stay, ascending.
  void keep(const std::vector<std::uint32_t>& columns);

 private:
  void centre_targets();
  void scale_columns(std::span<const double> means);
  // X v
  void scores(const Vector& v, Vector& u) const;
  // X' r + lambda v
  void pulls(const Vector& r, const Vector& v, Vector& sums) const;
  double objective(const Vector& u, const Vector& z) const;
  void curve(const Vector& u);
  bool take_step(Vector& u, double accuracy);
  void find_direction(double accuracy);

  const Batch& rows_;
  const Loss& loss_;
  double bias_;  // what every row has in the last place
  double ridge_ = kRidge;
  double base_ = 0.0;
  Vector targets_;  // less that
  Vector costs_;    // of the rows that are fitted
  Buffer<std::uint64_t> starts_;
  Buffer<std::uint32_t> places_;
  Buffer<float> values_;
  Vector units_;
  Vector shifts_;  // still to be taken off every value of a column, in its unit
  Vector z_;
  // Of the step at hand.
  Vector slopes_;
  Vector curvatures_;
  Vector gradient_;
  Vector diagonal_;
  Vector direction_;
  double first_gradient_ = 0.0;  // its length at z = 0
};

Problem::Problem(const Batch& rows, std::span<const Key> candidates, std::span<const double> means, const Loss& loss,
                 bool intercept)
    : rows_(rows),
      loss_(loss),
      bias_(intercept ? 1.0 : 0.0),
      units_(candidates.size()),
      shifts_(candidates.size()),
      z_(candidates.size() + 1) {
  starts_.push_back(0);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::size_t j = rows.row_begin(row); j < rows.row_end(row); ++j) {
      const auto found = std::lower_bound(candidates.begin(), candidates.end(), rows.keys[j]);
      if (found == candidates.end() || *found != rows.keys[j] || rows.values[j] == 0.0F) continue;
      places_.push_back(static_cast<std::uint32_t>(found - candidates.begin()));
      values_.push_back(rows.values[j]);
    }
    starts_.push_back(places_.size());
  }
  scale_columns(means);
  costs_.assign(rows.importance.begin(), rows.importance.end());
  targets_.assign(rows.targets.begin(), rows.targets.end());
  if (intercept && loss.kind() == Loss::Kind::kSquared) centre_targets();
}

// Of numbers only their differences are to be explained: their mean is no column's, and not held back.
void Problem::centre_targets() {
  const double rows = std::accumulate(costs_.begin(), costs_.end(), 0.0);
  if (!(rows > 0.0)) return;
  base_ = dot(costs_, targets_) / rows;
  for (double& target : targets_) target -= base_;
}

// Of each five rows in a row one, drawn: what repeats among rows is on both sides.
std::vector<std::size_t> drawn(std::size_t rows) {
  std::vector<std::size_t> held_out;
  for (std::size_t first = 0; first < rows; first += kHeldOut)
    held_out.push_back(first + mix64(first) % std::min(kHeldOut, rows - first));
  return held_out;
}

double Problem::best_ridge() {
  const Vector all = costs_;
  const std::vector<std::size_t> held_out = drawn(all.size());
  for (const std::size_t row : held_out) costs_[row] = 0.0;
  double best = kLargestRidge;
  double least = std::numeric_limits<double>::infinity();
  Vector u(all.size());
  for (ridge_ = kLargestRidge; ridge_ >= kLeastRidge; ridge_ /= kRidgeStep) {
    solve(kRough);
    scores(z_, u);
    double lost = 0.0;
    for (const std::size_t row : held_out) lost += all[row] * loss_.value(u[row], targets_[row]);
    if (lost < least) {
      least = lost;
      best = ridge_;
    }
  }
  costs_ = all;
  ridge_ = kRidge;
  std::fill(z_.begin(), z_.end(), 0.0);
  first_gradient_ = 0.0;
  return best;
}

// Where a mean is taken off, the unit is of what is left, in all rows. In a column without gaps it is taken off at
// once: values that are large beside what tells them apart are exact then.
void Problem::scale_columns(std::span<const double> means) {
  Vector counts(columns());
  double all = 0.0;
  std::vector<std::size_t> entries(columns());
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    all += rows_.importance[row];
    for (std::size_t j = starts_[row]; j < starts_[row + 1]; ++j) {
      const double off = static_cast<double>(values_[j]) - means[places_[j]];
      counts[places_[j]] += rows_.importance[row];
      units_[places_[j]] += rows_.importance[row] * off * off;
      ++entries[places_[j]];
    }
  }
  for (std::size_t i = 0; i < columns(); ++i) {
    if (means[i] != 0.0) {
      units_[i] += (all - counts[i]) * means[i] * means[i];
      counts[i] = all;
      if (entries[i] < rows_.rows()) shifts_[i] = means[i];
    }
    units_[i] = units_[i] > 0.0 ? std::sqrt(units_[i] / counts[i]) : 1.0;
    shifts_[i] /= units_[i];
  }
  for (std::size_t j = 0; j < values_.size(); ++j) {
    const std::uint32_t i = places_[j];
    const double off = shifts_[i] == 0.0 ? means[i] : 0.0;
    values_[j] = static_cast<float>((static_cast<double>(values_[j]) - off) / units_[i]);
  }
}

void Problem::keep(const std::vector<std::uint32_t>& columns) {
  constexpr auto kGone = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> renamed(this->columns(), kGone);
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    renamed[columns[i]] = i;
    units_[i] = units_[columns[i]];
    shifts_[i] = shifts_[columns[i]];
    z_[i] = z_[columns[i]];
  }
  z_[columns.size()] = z_.back();
  units_.resize(columns.size());
  shifts_.resize(columns.size());
  z_.resize(columns.size() + 1);
  std::size_t end = 0;
  for (std::size_t row = 0, j = 0; row < rows_.rows(); ++row) {
    for (; j < starts_[row + 1]; ++j) {
      if (renamed[places_[j]] == kGone) continue;
      places_[end] = renamed[places_[j]];
      values_[end++] = values_[j];
    }
    starts_[row + 1] = end;
  }
  places_.set_size(end);
  values_.set_size(end);
}

void Problem::scores(const Vector& v, Vector& u) const {
  double base = bias_ * v.back();
  for (std::size_t i = 0; i < columns(); ++i) base -= v[i] * shifts_[i];
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    double sum = base;
    for (std::size_t j = starts_[row]; j < starts_[row + 1]; ++j) sum += v[places_[j]] * values_[j];
    u[row] = sum;
  }
}

void Problem::pulls(const Vector& r, const Vector& v, Vector& sums) const {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = ridge_ * v[i];
  double all = 0.0;
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    for (std::size_t j = starts_[row]; j < starts_[row + 1]; ++j) sums[places_[j]] += r[row] * values_[j];
    sums.back() += bias_ * r[row];
    all += r[row];
  }
  for (std::size_t i = 0; i < columns(); ++i) sums[i] -= shifts_[i] * all;
}

double Problem::objective(const Vector& u, const Vector& z) const {
  double sum = 0.5 * ridge_ * dot(z, z);
  for (std::size_t row = 0; row < rows_.rows(); ++row) sum += costs_[row] * loss_.value(u[row], targets_[row]);
  return sum;
}

// Slopes and curvatures of the rows, the gradient, and the diagonal of the second order.
void Problem::curve(const Vector& u) {
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    const RowLoss loss(loss_, u[row], targets_[row]);
    slopes_[row] = costs_[row] * loss.slope();
    curvatures_[row] = costs_[row] * loss.curvature();
  }
  pulls(slopes_, z_, gradient_);
  std::fill(diagonal_.begin(), diagonal_.end(), ridge_);
  double all = 0.0;
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    for (std::size_t j = starts_[row]; j < starts_[row + 1]; ++j) {
      const double x = static_cast<double>(values_[j]);
      diagonal_[places_[j]] += curvatures_[row] * x * (x - 2.0 * shifts_[places_[j]]);
    }
    diagonal_.back() += bias_ * curvatures_[row];
    all += curvatures_[row];
  }
  for (std::size_t i = 0; i < columns(); ++i) diagonal_[i] += all * shifts_[i] * shifts_[i];
}

void Problem::solve(double accuracy) {
  const std::size_t rows = rows_.rows();
  for (Vector* column : {&slopes_, &curvatures_}) column->assign(rows, 0.0);
  for (Vector* column : {&gradient_, &diagonal_, &direction_}) column->assign(columns() + 1, 0.0);
  Vector u(rows);
  if (first_gradient_ == 0.0) {
    curve(u);
    first_gradient_ = std::sqrt(dot(gradient_, gradient_));
  }
  scores(z_, u);
  for (int step = 0; step < kMostSteps; ++step) {
    curve(u);
    const double length = std::sqrt(dot(gradient_, gradient_));
    if (!(length > accuracy * first_gradient_) || !take_step(u, std::min(0.3, length / first_gradient_))) break;
  }
}

// False when no step makes the objective fall any more.
bool Problem::take_step(Vector& u, double accuracy) {
  find_direction(accuracy);
  const double promised = dot(gradient_, direction_);
  const double before = objective(u, z_);
  Vector along(u.size());
  scores(direction_, along);
  Vector z(z_.size());
  Vector moved(u.size());
  for (double length = 1.0; length > 1e-6; length *= 0.5) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = z_[i] + length * direction_[i];
    for (std::size_t row = 0; row < u.size(); ++row) moved[row] = u[row] + length * along[row];
    if (!(objective(moved, z) <= before + kLeastGain * length * promised)) continue;
    z_.swap(z);
    u.swap(moved);
    return true;
  }
  return false;
}

// (X' D X + lambda) direction = -gradient, as far as the residual's length is that share of the gradient's.
void Problem::find_direction(double accuracy) {
  std::fill(direction_.begin(), direction_.end(), 0.0);
  const std::size_t size = direction_.size();
  Vector residual(size);
  Vector eased(size);
  Vector search(size);
  Vector product(size);
  Vector u(rows_.rows());
  for (std::size_t i = 0; i < size; ++i) {
    residual[i] = -gradient_[i];
    search[i] = eased[i] = residual[i] / diagonal_[i];
  }
  double measure = dot(residual, eased);
  const double enough = accuracy * std::sqrt(dot(gradient_, gradient_));
  for (int i = 0; i < kMostProducts && std::sqrt(dot(residual, residual)) > enough; ++i) {
    scores(search, u);
    for (std::size_t row = 0; row < u.size(); ++row) u[row] *= curvatures_[row];
    pulls(u, search, product);
    const double step = measure / dot(search, product);
    for (std::size_t j = 0; j < size; ++j) {
      direction_[j] += step * search[j];
      residual[j] -= step * product[j];
      eased[j] = residual[j] / diagonal_[j];
    }
    const double next = dot(residual, eased);
    for (std::size_t j = 0; j < size; ++j) search[j] = eased[j] + next / measure * search[j];
    measure = next;
  }
}

// Ascending; of equals the one with the smaller key.
std::vector<std::uint32_t> largest(const Problem& problem, std::size_t count) {
  std::vector<std::uint32_t> order(problem.columns());
  Vector claims(problem.columns());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    claims[i] = problem.claim(i);
  }
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    return claims[a] != claims[b] ? claims[a] > claims[b] : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), larger);
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

FinalRefit refit_best(const Batch& rows, std::span<const Key> candidates, std::span<const double> means, std::size_t k,
                      const Loss& loss, bool intercept) {
  FinalRefit best;
  best.keys.assign(candidates.begin(), candidates.end());
  Problem problem(rows, candidates, means, loss, intercept);
  const double ridge = problem.best_ridge();
  while (problem.columns() > k) {
    problem.solve(kRough);
    const auto count = static_cast<std::size_t>(kStays * static_cast<double>(problem.columns()));
    const std::vector<std::uint32_t> kept = largest(problem, std::max(k, count));
    for (std::size_t i = 0; i < kept.size(); ++i) best.keys[i] = best.keys[kept[i]];
    best.keys.resize(kept.size());
    problem.keep(kept);
  }
  problem.set_ridge(ridge);
  problem.solve(kFine);
  for (std::size_t i = 0; i < best.keys.size(); ++i) best.weights.push_back(problem.weight(i));
  best.intercept = problem.intercept();
  return best;
}

}  // namespace fsstream

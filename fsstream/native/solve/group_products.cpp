#include "solve/group_products.hpp"

#include <algorithm>

#include "solve/reduced_problem.hpp"

namespace fsstream {

GroupProducts::GroupProducts(const ColumnCache& columns, const ReducedSolution& solution, bool allowed)
    : columns_(columns), solution_(solution), rows_(columns.rows()) {
  // The columns decide, never the memory left: a run gives the same bits under any budget.
  cached_ = allowed && columns.entries(solution.members) > 2 * rows_ * solution.groups();
  if (!cached_) return;
  const std::size_t size = rows_ * solution.groups();
  now_.resize(size);
  point_.resize(size);
  slope_.resize(size);
}

void GroupProducts::sum_columns(std::span<const double> weights, std::vector<double>& u) const {
  std::fill(u.begin(), u.end(), 0.0);
  columns_.add(solution_.members, weights, u);
}

void GroupProducts::product(std::size_t h, std::span<const double> weights, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t begin = solution_.starts[h];
  const std::size_t count = solution_.starts[h + 1] - begin;
  columns_.add(std::span(solution_.members).subspan(begin, count), weights.subspan(begin, count), out);
}

void GroupProducts::at_weights(std::vector<double>& u) {
  if (!cached_) {
    sum_columns(solution_.weights, u);
    total_ = u;
    return;
  }
  std::fill(u.begin(), u.end(), 0.0);
  for (std::size_t h = 0; h < solution_.groups(); ++h) {
    const auto now = part(now_, h);
    product(h, solution_.weights, now);
    std::copy(now.begin(), now.end(), part(point_, h).begin());
    for (std::size_t i = 0; i < rows_; ++i) u[i] += now[i];
  }
}

void GroupProducts::at_gradient(std::span<const double> gradient) {
  if (!cached_) return;
  for (std::size_t h = 0; h < solution_.groups(); ++h) product(h, gradient, part(slope_, h));
}

void GroupProducts::at_step(std::span<const double> factors, double tau, std::span<const double> step,
                            std::vector<double>& u) {
  if (!cached_) {
    sum_columns(step, u);
    step_ = u;
    return;
  }
  tau_ = tau;
  factors_.assign(factors.begin(), factors.end());
  columns_.over_rows(point_.size(), [&](std::size_t first, std::size_t end) {
    std::fill(u.data() + first, u.data() + end, 0.0);
    for (std::size_t h = 0; h < solution_.groups(); ++h) {
      const double factor = factors[h];
      if (factor == 0.0) continue;
      const auto point = part(point_, h);
      const auto slope = part(slope_, h);
      for (std::size_t i = first; i < end; ++i) u[i] += factor * (point[i] - slope[i] / tau);
    }
  });
}

void GroupProducts::advance(double beta, std::vector<double>& u) {
  if (!cached_) {
    for (std::size_t i = 0; i < rows_; ++i) u[i] = step_[i] + beta * (step_[i] - total_[i]);
    total_.swap(step_);
    return;
  }
  columns_.over_rows(point_.size(), [&](std::size_t first, std::size_t end) {
    std::fill(u.data() + first, u.data() + end, 0.0);
    for (std::size_t h = 0; h < solution_.groups(); ++h) {
      const auto now = part(now_, h);
      const auto point = part(point_, h);
      const auto slope = part(slope_, h);
      for (std::size_t i = first; i < end; ++i) {
        const double next = factors_[h] * (point[i] - slope[i] / tau_);
        point[i] = next + beta * (next - now[i]);
        now[i] = next;
        u[i] += point[i];
      }
    }
  });
}

}  // namespace fsstream

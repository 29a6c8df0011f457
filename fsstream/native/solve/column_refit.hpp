// The last step of the columns family: the loss minimised over the selected features alone.
//
// Objective   1/n sum l(b + sum_j w_j x_j, y) + ridge/2 |w|^2
//             over columns centred and of mean square 1 (or raw, unit_scale = false).
// Method      Newton steps with halving; one is enough for squared loss. Columns that
//             explain each other entirely share their weight.
// Result      weights of the columns as they came in, and the intercept that belongs to them.
#pragma once

#include <span>
#include <vector>

#include "solve/column_loss.hpp"
#include "solve/feature_columns.hpp"

namespace fsstream {

struct RefitOptions {
  bool intercept = true;
  double ridge = 0;
  bool unit_scale = true;
};

struct RefittedModel {
  std::vector<double> weights;
  double intercept = 0;
};

RefittedModel refit(const FeatureColumns& columns, std::span<const std::size_t> slots, std::span<const double> targets,
                    const ColumnLoss& loss, const RefitOptions& options);

}  // namespace fsstream

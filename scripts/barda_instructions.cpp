// Instructions a row of B-ARDA and B-AMD, counted, against the number of features d.
//
//   c++ -std=c++20 -O3 -g -ffp-contract=off -I fsstream/native scripts/barda_instructions.cpp \
//       fsstream/native/{learn/b_arda,learn/b_amd,core/batch,sketch/count_sketch,sketch/row_kernels,sketch/row_kernels_avx512,sketch/warm_up}.cpp -o count
//   valgrind --tool=callgrind --toggle-collect='*::update(fsstream::Batch const&, float*)' ./count b-arda 10000000
//
// Rows of 50 non-zeros, half from 1,000 frequent features and half from all d; lambda > 0, B = 100.
// 20,000 rows are learned, so the collected count is for 1,000,000 non-zeros.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hash/mix.hpp"
#include "learn/b_amd.hpp"
#include "learn/b_arda.hpp"

using namespace fsstream;

int main(int, char** arguments) {
  const std::size_t d = std::strtoull(arguments[2], nullptr, 10);
  BudgetedOptions options;
  options.budget = 100;
  options.lambda = 1e-3;
  std::unique_ptr<OnlineLearner> learner;
  const Loss loss(Loss::Kind::kSquaredHinge);
  if (std::strcmp(arguments[1], "b-arda") == 0)
    learner = std::make_unique<BArda>(loss, options);
  else
    learner = std::make_unique<BAmd>(loss, options);
  SplitMix draws(1);
  Batch batch;
  batch.start({}, nullptr);
  for (int row = 0; row < 20000; ++row) {
    int signal = 0;
    for (std::uint64_t j = 0; j < 50; ++j) {
      // Each draw from its own fiftieth, so that a key occurs once in a row.
      const std::uint64_t share = (j % 2 == 0 ? 1000 : d) / 50;
      const Key key = (share < d / 50 ? 0 : 1000) + j * share + draws.below(share);
      signal += key < 40 ? 1 : 0;
      batch.keys.push_back(key);
      batch.values.push_back(0.15F + 0.01F * static_cast<float>(draws.uniform()));
    }
    batch.end_row({}, 0.0, 1.0F, 0);
    batch.targets.back() = signal > 0 ? 1.0F : -1.0F;
  }
  std::vector<float> scores(batch.rows());
  learner->update(batch, scores.data());
}

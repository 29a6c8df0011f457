// What a Newton learner selects, and what it writes of weights and intercept.
#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "learn/newton.hpp"

namespace fsstream {

namespace {

// Of a loss of the kept rows. Losses that differ by less say little of rows to come: the weights were fitted to these.
constexpr double kMadeUp = 0.8;

}  // namespace

double Newton::intercept() const {
  const Calibration::Line found = line();
  const double of_pass = found.slope * intercept_ + found.offset;
  const FinalRefit* refitted = refit();
  const double taken = means_.on() ? score_of_means() : 0.0;
  if (refitted == nullptr) return of_pass - taken;
  const double as_learned = beside(of_pass, refitted->intercept) - taken;
  const double as_chosen = beside(of_pass + added_by_dropped(*refitted), refitted->intercept) - taken;
  if (!with_intercept_ || as_chosen == as_learned) return as_learned;
  return loss_of_kept(as_chosen) < kMadeUp * loss_of_kept(as_learned) ? as_chosen : as_learned;
}

// With what is written and this intercept.
double Newton::loss_of_kept(double intercept) const {
  std::vector<std::pair<Key, double>> weights;
  for (const Chosen& chosen : top()) weights.emplace_back(chosen.key, chosen.weight);
  std::sort(weights.begin(), weights.end());
  const auto before = [](const std::pair<Key, double>& weight, Key key) { return weight.first < key; };
  const Batch& rows = kept_.rows();
  double sum = 0.0;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    double score = intercept;
    for (std::size_t j = rows.row_begin(row); j < rows.row_end(row); ++j) {
      const auto found = std::lower_bound(weights.begin(), weights.end(), rows.keys[j], before);
      if (found != weights.end() && found->first == rows.keys[j]) score += found->second * rows.values[j];
    }
    sum += rows.importance[row] * loss_.value(score, rows.targets[row]);
  }
  return sum;
}

// Of what is written, where each column of a table is at its mean.
double Newton::score_of_means() const {
  double sum = 0.0;
  for (const Chosen& chosen : top()) sum += static_cast<double>(chosen.weight) * means_.mean(chosen.key);
  return sum;
}

// The mean over the kept rows of what active features add that the fit has dropped. The intercept of the pass counts
// on it: where one of them is 100 in every row, each score is off by a hundred times half its weight without.
double Newton::added_by_dropped(const FinalRefit& refit) const {
  std::vector<Key> dropped;
  for (const ActiveSet::Entry& entry : active_.entries())
    if (!std::binary_search(refit.keys.begin(), refit.keys.end(), entry.key)) dropped.push_back(entry.key);
  std::sort(dropped.begin(), dropped.end());
  const std::vector<double> means = kept_.means(dropped);
  const double scale = line().slope * scale_.value;
  const Trust::Shares trust = trust_.shares();
  double sum = 0.0;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    const std::uint32_t slot = active_.find(dropped[i], sketch_.home(dropped[i]));
    const double weight = written(slot, claim_of(slot, active_.weight(slot)), scale, trust);
    sum += weight * (means[i] - means_.mean(dropped[i]));
  }
  return sum;
}

// What is written of what the pass says and of what the fit does.
double Newton::beside(double of_pass, double of_fit) const {
  return loss_.kind() == Loss::Kind::kSquared ? of_fit : 0.5 * (of_pass + of_fit);
}

// Of the rows so far, or nullptr where they are not kept.
const FinalRefit* Newton::refit() const {
  if (!kept_.whole() || kept_.rows().rows() == 0) return nullptr;
  if (!refit_) {
    std::vector<Key> candidates;
    for (const ActiveSet::Entry& entry : active_.entries()) candidates.push_back(entry.key);
    for (const ActiveSet::Entry& entry : left_.entries())
      if (active_.find(entry.key, sketch_.home(entry.key)) == ActiveSet::kNone) candidates.push_back(entry.key);
    std::sort(candidates.begin(), candidates.end());
    std::vector<double> means;
    for (const Key key : candidates) means.push_back(means_.mean(key));
    refit_ = refit_best(kept_.rows(), candidates, means, k_, loss_, with_intercept_);
  }
  return &*refit_;
}

std::vector<Chosen> Newton::top() const {
  for (const ActiveSet::Entry& entry : active_.entries())
    if (!std::isfinite(entry.weight)) throw Diverged("the weights left the range of numbers\nscale the rows");
  const FinalRefit* refitted = refit();
  return refitted == nullptr ? top_of_pass() : top_of_refit(*refitted);
}

std::vector<Chosen> Newton::top_of_pass() const {
  struct Candidate {
    double claim;
    std::uint32_t slot;
    Chosen chosen;
  };
  std::vector<Candidate> all;
  for (const ActiveSet::Entry& entry : active_.entries())
    if (entry.weight != 0.0F)
      all.push_back(
          {claim_of(entry.slot, entry.weight), entry.slot, {entry.key, entry.weight, active_.name(entry.slot)}});
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.claim != b.claim ? a.claim > b.claim : a.chosen.name < b.chosen.name;
  });
  if (all.size() > k_) all.resize(k_);
  const double scale = line().slope * scale_.value;
  const Trust::Shares trust = trust_.shares();
  std::vector<Chosen> chosen;
  for (Candidate& candidate : all) {
    candidate.chosen.weight = written(candidate.slot, candidate.claim, scale, trust);
    chosen.push_back(std::move(candidate.chosen));
  }
  return chosen;
}

std::vector<Chosen> Newton::top_of_refit(const FinalRefit& refit) const {
  const double scale = line().slope * scale_.value;
  const Trust::Shares trust = trust_.shares();
  std::vector<Chosen> chosen;
  for (std::size_t i = 0; i < refit.keys.size(); ++i) {
    const Key key = refit.keys[i];
    const std::uint32_t home = sketch_.home(key);
    const std::uint32_t slot = active_.find(key, home);
    const bool active = slot != ActiveSet::kNone;
    const float of_pass = active ? written(slot, claim_of(slot, active_.weight(slot)), scale, trust) : 0.0F;
    const auto weight = static_cast<float>(beside(of_pass, refit.weights[i]));
    if (weight != 0.0F)
      chosen.push_back({key, weight, active ? active_.name(slot) : left_.name(left_.find(key, home))});
  }
  return chosen;
}

// What the pass says of a weight, as far as it is to be trusted.
float Newton::written(std::uint32_t slot, double claim, double scale, const Trust::Shares& trust) const {
  const double doubtful = Trust::doubtful(claim, threshold_);
  const double held_back = Trust::held_back<double>(evidence_of(slot).count, prior());
  return active_.weight(slot) * static_cast<float>(scale * trust.of(doubtful, held_back));
}

}  // namespace fsstream

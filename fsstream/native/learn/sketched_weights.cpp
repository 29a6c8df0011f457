#include "learn/sketched_weights.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/errors.hpp"
#include "sketch/warm_up.hpp"

namespace fsstream {

namespace {

std::size_t capacity_for(std::size_t k) {
  if (k == 0) throw std::invalid_argument("k must be at least 1");
  return 2 * k;
}

}  // namespace

template <class Sketch>
SketchedWeights<Sketch>::SketchedWeights(Sketch sketch, std::size_t k)
    : k_(k), sketch_(std::move(sketch)), active_(capacity_for(k)) {}

template <class Sketch>
void SketchedWeights<Sketch>::hash(const Batch& batch, std::size_t first, std::size_t size, std::size_t longest) {
  sketch_.hash(batch.keys.data() + first, size, hashed_);
  warm_up_run(batch, first, size);
  estimates_.reserve(longest + kSlack);
  steps_.reserve(longest + kSlack);
  slots_.reserve(longest + kSlack);
  listed_.reserve(longest + kSlack);
}

template <class Sketch>
void SketchedWeights<Sketch>::check_names(const Row& row, const std::uint32_t* entries, std::size_t count) {
  active_.check_names(*row.batch, [&](auto visit) {
    for (std::size_t i = 0; i < count; ++i)
      if (slots_[i] != ActiveSet::kNone) visit(slots_[i], row.first + entries[i]);
  });
}

template <class Sketch>
std::vector<Chosen> SketchedWeights<Sketch>::top() const {
  std::vector<ActiveSet::Entry> all = active_.entries();
  for (ActiveSet::Entry& entry : all) {
    entry.weight = weight_of(entry);
    if (!std::isfinite(entry.weight))
      throw Diverged("the weights left the range of numbers\nlower --learning-rate, or scale the rows");
  }
  std::erase_if(all, [](const ActiveSet::Entry& entry) { return entry.weight == 0.0F; });
  const auto written_first = [this](const ActiveSet::Entry& a, const ActiveSet::Entry& b) {
    const float size_a = std::fabs(a.weight);
    const float size_b = std::fabs(b.weight);
    return size_a != size_b ? size_a > size_b : active_.name(a.slot) < active_.name(b.slot);
  };
  if (all.size() > k_) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k_), all.end(), written_first);
    all.resize(k_);
  }
  std::vector<Chosen> chosen;
  chosen.reserve(all.size());
  for (const ActiveSet::Entry& entry : all) chosen.push_back({entry.key, entry.weight, active_.name(entry.slot)});
  return chosen;
}

template <class Sketch>
std::vector<std::pair<std::string, std::uint64_t>> SketchedWeights<Sketch>::counts() const {
  return {{"candidates", active_.size()}, {"prunes", prunes_}, {"collisions", active_.collisions()}};
}

template <class Sketch>
std::size_t SketchedWeights<Sketch>::bytes() const {
  return sketch_.bytes() + active_.bytes() + hashed_.bytes();
}

template <class Sketch>
typename SketchedWeights<Sketch>::Asked& SketchedWeights<Sketch>::ask(std::span<const ActiveSet::Entry> entries) {
  Buffer<Key>& keys = asked_.keys;
  keys.clear();
  keys.reserve(entries.size());
  for (const ActiveSet::Entry& entry : entries) keys.push_back(entry.key);
  sketch_.hash(keys.data(), keys.size(), asked_.hashed);
  asked_.estimates.reserve(keys.size() + kSlack);
  sketch_.kernels().estimate(sketch_.rows(asked_.hashed, 0), keys.size(), asked_.estimates.data());
  return asked_;
}

template <class Sketch>
void SketchedWeights<Sketch>::save_shared(StateWriter& out, double first, double second) const {
  const double numbers[] = {sketch_.scale(), threshold_, first, second};
  out.put("sketch", sketch_.cells());
  out.put("scales", std::span<const double>(numbers));
  out.put("prunes", std::span<const std::uint64_t>(&prunes_, 1));
  active_.save(out);
}

template <class Sketch>
std::span<const double> SketchedWeights<Sketch>::load_shared(const StateReader& in) {
  in.read("sketch", sketch_.cells());
  const auto numbers = of_size(in.doubles("scales"), 4, "scales");
  sketch_.set_scale(numbers[0]);
  threshold_ = static_cast<float>(numbers[1]);
  prunes_ = of_size(in.words("prunes"), 1, "prunes")[0];
  active_.load(in, [this](Key key) { return sketch_.home(key); });
  return numbers.subspan(2);
}

template class SketchedWeights<CountSketch>;
template class SketchedWeights<BlockSketch>;

}  // namespace fsstream

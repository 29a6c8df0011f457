// What a Newton learner writes down, and takes over again.
#include "learn/limits.hpp"
#include "learn/newton.hpp"

namespace fsstream {

// Numbers are known by their places: fsstream/algorithms/merging/newton.py names them.
void Newton::save(StateWriter& out) const {
  const double numbers[] = {intercept_,
                            intercept_evidence_,
                            prior_.entries,
                            threshold_,
                            progress_.sum(),
                            progress_.weight(),
                            fading_,
                            prior_.losses,
                            prior_.plain_losses,
                            prior_.targets,
                            prior_.weight,
                            scale_.value,
                            scale_.evidence,
                            static_cast<double>(repeats_),
                            load_,
                            static_cast<double>(seeded_)};
  out.put("newton", std::span<const double>(numbers));
  const std::uint64_t counts[] = {rows_, prunes_};
  out.put("rows", std::span<const std::uint64_t>(counts));
  out.put("calibration", calibration_.numbers());
  out.put("trust", trust_.numbers());
  out.put("sketch", sketch_.cells());
  active_.save(out);
  const auto entries = active_.entries();
  put_each<float>(out, "active_evidence", 2 * entries.size(), [&](std::size_t i) {
    const Evidence known = evidence_of(entries[i / 2].slot);
    return i % 2 == 0 ? known.scaled : known.count;
  });
  means_.save(out);
  PartWriter kept(out, 0);
  kept_.save(kept);
  PartWriter left(out, 1);
  if (kept_.whole()) left_.save(left);
}

void Newton::load(const StateReader& in) {
  const auto numbers = of_size(in.doubles("newton"), 16, "newton");
  intercept_ = numbers[0];
  intercept_evidence_ = numbers[1];
  prior_ = {numbers[2], numbers[7], numbers[8], numbers[9], numbers[10]};
  threshold_ = numbers[3];
  progress_.set(numbers[4], numbers[5]);
  fading_ = numbers[6];
  check_state(numbers[11] > 0.0 && numbers[12] >= 0.0 && numbers[14] >= 0.0);
  scale_.value = numbers[11];
  scale_.evidence = numbers[12];
  repeats_ = numbers[13] != 0.0;
  load_ = static_cast<float>(numbers[14]);
  seeded_ = numbers[15] != 0.0;
  const auto counts = of_size(in.words("rows"), 2, "rows");
  rows_ = counts[0];
  prunes_ = counts[1];
  calibration_.restore(in.doubles("calibration"));
  trust_.restore(in.doubles("trust"));
  in.read("sketch", sketch_.cells());
  active_.load(in, [this](Key key) { return sketch_.home(key); });
  const auto keys = in.words("active_keys");
  const auto evidence = of_size(in.floats("active_evidence"), 2 * keys.size(), "active_evidence");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t slot = active_.find(keys[i], sketch_.home(keys[i]));
    set(slot, active_.weight(slot), {evidence[2 * i], evidence[2 * i + 1]});
  }
  means_.load(in);
  refit_.reset();
  kept_.load(PartReader(in, 0));
  remember({});
  if (kept_.whole()) left_.load(PartReader(in, 1), [this](Key key) { return sketch_.home(key); });
}

}  // namespace fsstream

// Work in parts, each in a thread of its own: for work whose parts write apart from each other, so that
// what comes out does not depend on how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace fsstream {

// work(begin, end) over [0, count) in up to `threads` runs of whole grains. work must not throw.
template <class Work>
void in_parts(std::size_t threads, std::size_t count, std::size_t grain, Work work) {
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t parts = std::min(threads, grains);
  if (parts < 2) {
    if (count > 0) work(std::size_t{0}, count);
    return;
  }
  std::vector<std::thread> running;
  for (std::size_t part = 0; part < parts; ++part)
    running.emplace_back(
        [=] { work(grains * part / parts * grain, std::min(count, grains * (part + 1) / parts * grain)); });
  for (std::thread& thread : running) thread.join();
}

}  // namespace fsstream

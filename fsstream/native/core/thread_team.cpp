#include "core/thread_team.hpp"

#include <algorithm>
#include <system_error>

namespace fsstream {

namespace {

constexpr std::size_t kMostThreads = 64;

}  // namespace

ThreadTeam::ThreadTeam(std::size_t threads) {
  try {
    for (std::size_t t = 1; t < std::min(threads, kMostThreads); ++t) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there do the work.
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::run(std::size_t parts, const std::function<void(std::size_t)>& do_part) {
  {
    const std::scoped_lock lock(mutex_);
    job_ = &do_part;
    parts_ = parts;
    next_ = 0;
    busy_ = helpers_.size();
    ++number_;
  }
  work_.notify_all();
  take_parts(do_part);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadTeam::take_parts(const std::function<void(std::size_t)>& do_part) {
  for (std::size_t part = next_++; part < parts_; part = next_++) do_part(part);
}

void ThreadTeam::help() {
  std::uint64_t seen = 0;
  for (;;) {
    const std::function<void(std::size_t)>* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return over_ || number_ != seen; });
      if (over_) return;
      seen = number_;
      job = job_;
    }
    take_parts(*job);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace fsstream

// ThreadTeam: threads that do numbered parts of one job at a time, and sleep in between.
//
// Who does which part is left to chance, so a job may only have parts that do not depend on each
// other; then its result does not depend on the number of threads. Parts must not throw.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fsstream {

class ThreadTeam {
 public:
  // The caller is one of the threads.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::size_t size() const { return helpers_.size() + 1; }
  // do_part(0) .. do_part(parts - 1), each once; returns when all are done.
  void run(std::size_t parts, const std::function<void(std::size_t)>& do_part);

 private:
  void help();
  void take_parts(const std::function<void(std::size_t)>& do_part);

  std::mutex mutex_;
  std::condition_variable work_, done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t parts_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::size_t busy_ = 0;      // helpers that have not finished this job
  std::uint64_t number_ = 0;  // of the job
  bool over_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace fsstream

#include "core/stop.hpp"

#include <atomic>

namespace fsstream {

namespace {

std::atomic<void (*)()> asked{nullptr};

}  // namespace

void ask_to_stop_with(void (*question)()) { asked = question; }

void leave_if_stopped() {
  if (void (*const question)() = asked) question();
}

}  // namespace fsstream

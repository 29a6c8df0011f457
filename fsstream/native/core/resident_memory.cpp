#include "core/resident_memory.hpp"

#include <unistd.h>

#include <fstream>

namespace fsstream {

std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t whole = 0, resident = 0;
  file >> whole >> resident;
  return file ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace fsstream

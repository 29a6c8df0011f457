// Bytes of this process that are in memory now; 0 where the system does not say.
#pragma once

#include <cstddef>

namespace fsstream {

std::size_t resident_memory();

}  // namespace fsstream

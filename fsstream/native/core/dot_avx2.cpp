// Compiled for AVX2 on x86-64 (see CMakeLists.txt), reached only where the processor has it.
#include "core/dot_lanes.hpp"

namespace fsstream {

const DotTable& dot_table_avx2() { return kLanesTable; }

}  // namespace fsstream

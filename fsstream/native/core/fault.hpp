// Fault: what is wrong with a record, written next to the code that finds it.
#pragma once

namespace fsstream {

struct Fault {
  const char* expected;
  const char* hint;  // what to do about it
};

}  // namespace fsstream

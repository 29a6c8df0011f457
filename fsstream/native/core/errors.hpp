// The few exceptions of the core. Thrown between rows, never inside row loops.
#pragma once

#include <stdexcept>
#include <string>

namespace fsstream {

// A declared limit cannot be kept; the rim turns it into fsstream.errors.LimitError.
class LimitExceeded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The weights left the range of numbers; becomes fsstream.errors.FsstreamError (exit 1).
class Diverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An input as a whole is not what was expected; becomes fsstream.errors.DataError.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes of ours that are not what was written; becomes fsstream.errors.CorruptError.
class CorruptData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fsstream

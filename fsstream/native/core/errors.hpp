// The few exceptions of the core. Thrown between rows, never inside row loops.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace fsstream {

// A declared limit cannot be kept; the rim turns it into fsstream.errors.LimitError.
class LimitExceeded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The weights left the range of numbers; becomes fsstream.errors.DivergedError (exit 1), which names the row.
class Diverged : public std::runtime_error {
 public:
  // Rows are counted from 1, as the learner has met them; 0: found in no row.
  explicit Diverged(const std::string& what, std::uint64_t row = 0) : std::runtime_error(what), row_(row) {}
  std::uint64_t row() const { return row_; }

 private:
  std::uint64_t row_;
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

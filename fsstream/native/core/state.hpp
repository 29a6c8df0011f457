// What a learner writes down to go on bit for bit: named plain arrays, and how it reads them back.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace fsstream {

class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void put(const std::string& name, std::span<const float> values) = 0;
  virtual void put(const std::string& name, std::span<const double> values) = 0;
  virtual void put(const std::string& name, std::span<const std::uint64_t> values) = 0;
  virtual void put(const std::string& name, std::span<const char> bytes) = 0;
};

// Spans live as long as the reader. A missing name or another type throws BadState.
class StateReader {
 public:
  virtual ~StateReader() = default;
  virtual std::span<const float> floats(const std::string& name) const = 0;
  virtual std::span<const double> doubles(const std::string& name) const = 0;
  virtual std::span<const std::uint64_t> words(const std::string& name) const = 0;
  virtual std::span<const char> bytes(const std::string& name) const = 0;
};

// Several parts of one kind in one state: each under names of its own.
class PartWriter final : public StateWriter {
 public:
  PartWriter(StateWriter& out, std::size_t part) : out_(out), prefix_(std::to_string(part) + "/") {}
  void put(const std::string& name, std::span<const float> values) override { out_.put(prefix_ + name, values); }
  void put(const std::string& name, std::span<const double> values) override { out_.put(prefix_ + name, values); }
  void put(const std::string& name, std::span<const std::uint64_t> values) override {
    out_.put(prefix_ + name, values);
  }
  void put(const std::string& name, std::span<const char> bytes) override { out_.put(prefix_ + name, bytes); }

 private:
  StateWriter& out_;
  std::string prefix_;
};

class PartReader final : public StateReader {
 public:
  PartReader(const StateReader& in, std::size_t part) : in_(in), prefix_(std::to_string(part) + "/") {}
  std::span<const float> floats(const std::string& name) const override { return in_.floats(prefix_ + name); }
  std::span<const double> doubles(const std::string& name) const override { return in_.doubles(prefix_ + name); }
  std::span<const std::uint64_t> words(const std::string& name) const override { return in_.words(prefix_ + name); }
  std::span<const char> bytes(const std::string& name) const override { return in_.bytes(prefix_ + name); }

 private:
  const StateReader& in_;
  std::string prefix_;
};

// A state that no learner of these options wrote.
class BadState : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T>
std::span<const T> of_size(std::span<const T> values, std::size_t size, const char* name) {
  if (values.size() != size) throw BadState(std::string("state: wrong size of ") + name);
  return values;
}

}  // namespace fsstream

// What a learner writes down to go on bit for bit: named plain arrays, and how it reads them back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace fsstream {

// As numpy spells it.
template <class T>
constexpr const char* kStateType = "|u1";
template <>
inline constexpr const char* kStateType<float> = "<f4";
template <>
inline constexpr const char* kStateType<double> = "<f8";
template <>
inline constexpr const char* kStateType<std::uint64_t> = "<u8";
template <>
inline constexpr const char* kStateType<std::uint32_t> = "<u4";
template <>
inline constexpr const char* kStateType<std::int16_t> = "<i2";

// Takes arrays one after the other, each in pieces: what lies in a learner's own buffers is not copied whole.
class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void start(const std::string& name, const char* type, std::size_t size) = 0;
  virtual void more(const void* data, std::size_t bytes) = 0;

  void put(const std::string& name, std::span<const float> values) { whole(name, values); }
  void put(const std::string& name, std::span<const double> values) { whole(name, values); }
  void put(const std::string& name, std::span<const std::uint64_t> values) { whole(name, values); }
  void put(const std::string& name, std::span<const char> bytes) { whole(name, bytes); }

 private:
  template <class T>
  void whole(const std::string& name, std::span<const T> values) {
    start(name, kStateType<T>, values.size());
    more(values.data(), values.size_bytes());
  }
};

// An array that lies nowhere as such: its numbers or texts are added, and passed on a few at a time.
template <class T>
class StatePieces {
 public:
  StatePieces(StateWriter& out, const std::string& name, std::size_t size) : out_(out) {
    out_.start(name, kStateType<T>, size);
  }
  void add(T value) {
    if (filled_ == piece_.size()) finish();
    piece_[filled_++] = value;
  }
  void add(const T* values, std::size_t count) {
    if (count > piece_.size() - filled_) finish();
    if (count > piece_.size()) {
      out_.more(values, count * sizeof(T));
      return;
    }
    std::copy_n(values, count, piece_.data() + filled_);
    filled_ += count;
  }
  // To be called behind the last one.
  void finish() {
    out_.more(piece_.data(), filled_ * sizeof(T));
    filled_ = 0;
  }

 private:
  StateWriter& out_;
  std::array<T, (std::size_t{1} << 15U) / sizeof(T)> piece_;
  std::size_t filled_ = 0;
};

// value_at(i) for each i, as one array.
template <class T, class ValueAt>
void put_each(StateWriter& out, const std::string& name, std::size_t size, ValueAt value_at) {
  StatePieces<T> pieces(out, name, size);
  for (std::size_t i = 0; i < size; ++i) pieces.add(value_at(i));
  pieces.finish();
}

// Spans live as long as the reader. A missing name or another type throws BadState.
class StateReader {
 public:
  virtual ~StateReader() = default;
  virtual std::span<const float> floats(const std::string& name) const = 0;
  virtual std::span<const double> doubles(const std::string& name) const = 0;
  virtual std::span<const std::uint64_t> words(const std::string& name) const = 0;
  virtual std::span<const char> bytes(const std::string& name) const = 0;
  // Straight to where it is wanted; the array has that size.
  virtual void read(const std::string& name, std::span<float> into) const = 0;
};

// Several parts of one kind in one state: each under names of its own.
class PartWriter final : public StateWriter {
 public:
  PartWriter(StateWriter& out, std::size_t part) : out_(out), prefix_(std::to_string(part) + "/") {}
  void start(const std::string& name, const char* type, std::size_t size) override {
    out_.start(prefix_ + name, type, size);
  }
  void more(const void* data, std::size_t bytes) override { out_.more(data, bytes); }

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
  void read(const std::string& name, std::span<float> into) const override { in_.read(prefix_ + name, into); }

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

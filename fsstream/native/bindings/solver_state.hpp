// State of a kernel as plain numpy arrays and back. A kernel lists its members once, in a
// template `visit_state(state)`; StateWriter copies them out, StateReader checks and copies in.
#pragma once

#include <nanobind/stl/string.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/buffer.hpp"

namespace fsstream {

template <class T>
nb::ndarray<nb::numpy, T> owned_array(const T* values, std::size_t count) {
  auto* copy = new std::vector<T>(values, values + count);
  const nb::capsule owner(copy, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return nb::ndarray<nb::numpy, T>(copy->data(), {count}, owner);
}

class StateWriter {
 public:
  static constexpr bool kReading = false;

  template <class T>
  void fixed(const std::string& name, std::vector<T>& values) {
    arrays[(prefix_ + name).c_str()] = owned_array(values.data(), values.size());
  }
  template <class T>
  void list(const std::string& name, std::vector<T>& values) {
    fixed(name, values);
  }
  template <class T>
  void list(const std::string& name, Buffer<T>& values) {
    arrays[(prefix_ + name).c_str()] = owned_array(values.data(), values.size());
  }
  void texts(const std::string& name, std::vector<std::string>& values) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> ends;
    for (const std::string& value : values) {
      bytes.insert(bytes.end(), value.begin(), value.end());
      ends.push_back(bytes.size());
    }
    fixed(name + "_bytes", bytes);
    fixed(name + "_ends", ends);
  }

  // Names that follow begin with this: parts of the same kind side by side.
  void enter(const std::string& prefix) { prefix_ = prefix; }

  nb::dict arrays;

 private:
  std::string prefix_;
};

class StateReader {
 public:
  static constexpr bool kReading = true;

  explicit StateReader(nb::dict from) : arrays(std::move(from)) {}

  // A vector whose length follows from the options.
  template <class T>
  void fixed(const std::string& name, std::vector<T>& values) {
    const std::size_t expected = values.size();
    list(name, values);
    if (values.size() != expected) throw misfit(name);
  }
  template <class T>
  void list(const std::string& name, std::vector<T>& values) {
    const auto stored = array<T>(name);
    values.assign(stored.data(), stored.data() + stored.size());
  }
  template <class T>
  void list(const std::string& name, Buffer<T>& values) {
    const auto stored = array<T>(name);
    values.clear();
    values.append(stored.data(), stored.size());
  }
  void texts(const std::string& name, std::vector<std::string>& values) {
    const auto bytes = array<std::uint8_t>(name + "_bytes");
    const auto ends = array<std::uint64_t>(name + "_ends");
    values.clear();
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends(i) < begin || ends(i) > bytes.size()) throw misfit(name);
      values.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin, ends(i) - begin);
      begin = ends(i);
    }
  }

  static std::invalid_argument misfit(const std::string& name) {
    return std::invalid_argument("the state's '" + name + "' does not fit");
  }

  void enter(const std::string& prefix) { prefix_ = prefix; }

  nb::dict arrays;

 private:
  std::string prefix_;

  template <class T>
  Vector<T> array(const std::string& name) {
    const std::string full = prefix_ + name;
    if (!arrays.contains(full.c_str())) throw misfit(full);
    Vector<T> found;
    if (!nb::try_cast(arrays[full.c_str()], found)) throw misfit(name);
    return found;
  }
};

}  // namespace fsstream

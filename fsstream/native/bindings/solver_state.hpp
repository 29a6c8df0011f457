// State of a column solver as plain arrays and back. A solver lists its members once, in a
// template `visit_state(state)`; SolverWriter gives them to a StateWriter, SolverReader checks and copies in.
#pragma once

#include <nanobind/stl/string.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/buffer.hpp"
#include "core/state.hpp"

namespace fsstream {

class SolverWriter {
 public:
  static constexpr bool kReading = false;

  explicit SolverWriter(StateWriter& out) : out_(out) {}

  template <class T>
  void fixed(const std::string& name, std::vector<T>& values) {
    whole(name, values.data(), values.size());
  }
  template <class T>
  void list(const std::string& name, std::vector<T>& values) {
    fixed(name, values);
  }
  template <class T>
  void list(const std::string& name, Buffer<T>& values) {
    whole(name, values.data(), values.size());
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

 private:
  template <class T>
  void whole(const std::string& name, const T* values, std::size_t size) {
    out_.start(prefix_ + name, kStateType<T>, size);
    out_.more(values, size * sizeof(T));
  }

  StateWriter& out_;
  std::string prefix_;
};

class SolverReader {
 public:
  static constexpr bool kReading = true;

  explicit SolverReader(nb::object from) : arrays_(std::move(from)) {}

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

 private:
  nb::object arrays_;  // a dict, or a Python StoredState
  std::string prefix_;

  // It keeps what it is a view of.
  template <class T>
  Vector<T> array(const std::string& name) {
    const std::string full = prefix_ + name;
    if (!nb::cast<bool>(arrays_.attr("__contains__")(full))) throw misfit(full);
    Vector<T> found;
    if (!nb::try_cast(nb::object(arrays_[full.c_str()]), found)) throw misfit(name);
    return found;
  }
};

}  // namespace fsstream

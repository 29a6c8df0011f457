// What the core computed as arrays that own it, and learner state as a dict of them.
//
// What every run asks for comes as a memoryview, and weights as an array.array, which can be pickled, too:
// a small run must not wait until numpy is loaded.
#pragma once

#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/batch.hpp"
#include "core/state.hpp"
#include "learn/weights.hpp"

namespace fsstream {

using Floats = nb::ndarray<nb::memview, float, nb::ndim<1>>;

template <class T>
nb::ndarray<nb::numpy, T> owned_array(std::span<const T> values) {
  auto* copy = new T[values.size()];
  std::copy(values.begin(), values.end(), copy);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return {copy, {values.size()}, owner};
}

// What a kernel says of the rows of a batch, `columns` numbers each: filled without Python's lock.
template <class Fill>
nb::ndarray<nb::numpy, float, nb::ndim<2>> matrix_of(std::size_t rows, std::size_t columns, Fill fill) {
  auto* data = new float[rows * columns];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    const nb::gil_scoped_release free;
    fill(data);
  }
  return {data, {rows, columns}, owner};
}

template <class Fill>
Floats scores_of(const Batch& batch, Fill fill) {
  auto* scores = new float[batch.rows()];
  nb::capsule owner(scores, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    const nb::gil_scoped_release free;
    fill(scores);
  }
  return {scores, {batch.rows()}, owner};
}

// An array.array.
inline nb::object float_array(std::span<const float> values) {
  const nb::bytes copy(values.data(), values.size_bytes());
  return nb::module_::import_("array").attr("array")("f", copy);
}

// Names and weights.
inline nb::tuple columns_of(const std::vector<Chosen>& chosen) {
  nb::list names;
  Buffer<float> weights;
  for (const Chosen& feature : chosen) {
    names.append(nb::bytes(feature.name.data(), feature.name.size()));
    weights.push_back(feature.weight);
  }
  return nb::make_tuple(names, float_array(weights.span()));
}

// Names of features and the other names that were met on their keys.
inline nb::list collided_list(const std::vector<std::pair<std::string, std::string>>& collided) {
  nb::list out;
  for (const auto& [known, met] : collided)
    out.append(nb::make_tuple(nb::bytes(known.data(), known.size()), nb::bytes(met.data(), met.size())));
  return out;
}

// To a Python StateSink, which sees the learner's own buffers: a piece holds as long as the call.
class SinkWriter final : public StateWriter {
 public:
  explicit SinkWriter(nb::handle sink) : start_(sink.attr("start")), more_(sink.attr("more")) {}
  void start(const std::string& name, const char* type, std::size_t size) override {
    start_(name, type, nb::make_tuple(size));
  }
  void more(const void* data, std::size_t bytes) override {
    if (bytes != 0) more_(view_of(const_cast<void*>(data), bytes, PyBUF_READ));
  }

  static nb::object view_of(void* data, std::size_t bytes, int access) {
    return nb::steal(PyMemoryView_FromMemory(static_cast<char*>(data), static_cast<Py_ssize_t>(bytes), access));
  }

 private:
  nb::object start_, more_;
};

// Copies into arrays of numpy's own.
class DictWriter final : public StateWriter {
 public:
  void start(const std::string& name, const char* type, std::size_t size) override {
    const auto width = static_cast<std::size_t>(type[2] - '0');
    auto* room = new char[size * width];
    nb::capsule owner(room, [](void* p) noexcept { delete[] static_cast<char*>(p); });
    using nb::dlpack::dtype_code;
    const dtype_code kind = type[1] == 'f' ? dtype_code::Float : type[1] == 'i' ? dtype_code::Int : dtype_code::UInt;
    const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(8 * width), 1};
    dict_[name.c_str()] = nb::ndarray<nb::numpy>(room, {size}, owner, {}, dtype);
    room_ = room;
  }
  void more(const void* data, std::size_t bytes) override {
    std::copy_n(static_cast<const char*>(data), bytes, room_);
    room_ += bytes;
  }
  nb::dict take() { return std::move(dict_); }

 private:
  nb::dict dict_;
  char* room_ = nullptr;
};

template <class Learner>
nb::dict state_of(const Learner& learner) {
  DictWriter writer;
  learner.save(writer);
  return writer.take();
}

template <class Learner>
void save_to(const Learner& learner, nb::handle sink) {
  SinkWriter writer(sink);
  learner.save(writer);
}

// From a dict of arrays, or from a Python StoredState.
class DictReader final : public StateReader {
 public:
  explicit DictReader(nb::handle mapping) : mapping_(mapping) {}
  std::span<const float> floats(const std::string& name) const override { return fetch<float>(name); }
  std::span<const double> doubles(const std::string& name) const override { return fetch<double>(name); }
  std::span<const std::uint64_t> words(const std::string& name) const override { return fetch<std::uint64_t>(name); }
  std::span<const char> bytes(const std::string& name) const override {
    const auto found = fetch<std::uint8_t>(name);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  void read(const std::string& name, std::span<float> into) const override {
    if (!into.empty() && nb::hasattr(mapping_, "read_into")) {
      mapping_.attr("read_into")(name, kStateType<float>,
                                 SinkWriter::view_of(into.data(), into.size_bytes(), PyBUF_WRITE));
      return;
    }
    const auto values = of_size(floats(name), into.size(), name.c_str());
    std::copy(values.begin(), values.end(), into.begin());
  }

 private:
  // The array lives as long as the reader, and so does the span.
  template <class T>
  std::span<const T> fetch(const std::string& name) const {
    if (!nb::cast<bool>(mapping_.attr("__contains__")(name))) throw BadState("state: no array " + name);
    nb::object found = mapping_[name.c_str()];
    Vector<T> array;
    if (!nb::try_cast(found, array, false)) throw BadState("state: wrong type of " + name);
    fetched_.push_back(std::move(found));
    return {array.data(), array.size()};
  }
  nb::handle mapping_;
  mutable std::vector<nb::object> fetched_;
};

}  // namespace fsstream

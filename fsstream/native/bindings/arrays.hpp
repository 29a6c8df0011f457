// Numpy arrays that own what the core computed, and learner state as a dict of them.
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
nb::ndarray<nb::numpy, float, nb::ndim<1>> scores_of(const Batch& batch, Fill fill) {
  auto* scores = new float[batch.rows()];
  nb::capsule owner(scores, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    const nb::gil_scoped_release free;
    fill(scores);
  }
  return {scores, {batch.rows()}, owner};
}

// Names and weights.
inline nb::tuple columns_of(const std::vector<Chosen>& chosen) {
  nb::list names;
  Buffer<float> weights;
  for (const Chosen& feature : chosen) {
    names.append(nb::bytes(feature.name.data(), feature.name.size()));
    weights.push_back(feature.weight);
  }
  return nb::make_tuple(names, owned_array(std::span<const float>(weights.span())));
}

// Names of features and the other names that were met on their keys.
inline nb::list collided_list(const std::vector<std::pair<std::string, std::string>>& collided) {
  nb::list out;
  for (const auto& [known, met] : collided)
    out.append(nb::make_tuple(nb::bytes(known.data(), known.size()), nb::bytes(met.data(), met.size())));
  return out;
}

class DictWriter final : public StateWriter {
 public:
  void put(const std::string& name, std::span<const float> values) override { store(name, values); }
  void put(const std::string& name, std::span<const double> values) override { store(name, values); }
  void put(const std::string& name, std::span<const std::uint64_t> values) override { store(name, values); }
  void put(const std::string& name, std::span<const char> bytes) override {
    store(name, std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  }
  nb::dict take() { return std::move(dict_); }

 private:
  template <class T>
  void store(const std::string& name, std::span<const T> values) {
    dict_[name.c_str()] = owned_array(values);
  }
  nb::dict dict_;
};

template <class Learner>
nb::dict state_of(const Learner& learner) {
  DictWriter writer;
  learner.save(writer);
  return writer.take();
}

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

 private:
  // The mapping keeps the array, and so the span, alive.
  template <class T>
  std::span<const T> fetch(const std::string& name) const {
    if (!nb::cast<bool>(mapping_.attr("__contains__")(name))) throw BadState("state: no array " + name);
    Vector<T> array;
    if (!nb::try_cast(mapping_[name.c_str()], array, false)) throw BadState("state: wrong type of " + name);
    return {array.data(), array.size()};
  }
  nb::handle mapping_;
};

}  // namespace fsstream

// The rim: the only files that know Python. One bind_* function per folder of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "core/buffer.hpp"

namespace fsstream {

namespace nb = nanobind;

void bind_additive(nb::module_& m);
void bind_bear(nb::module_& m);
void bind_budgeted(nb::module_& m);
void bind_core(nb::module_& m);
void bind_generating_machine(nb::module_& m);
void bind_sources(nb::module_& m);
void bind_transpose(nb::module_& m);
void bind_learn(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_random_features(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_substitution(nb::module_& m);
void bind_model(nb::module_& m);
void bind_parse(nb::module_& m);
void bind_parse_records(nb::module_& m);
void bind_write(nb::module_& m);

// A read-only view of core memory, alive as long as its owner.
template <class T, class Kind = nb::numpy>
nb::ndarray<Kind, const T> view_of(const Buffer<T>& buffer, nb::handle owner) {
  return nb::ndarray<Kind, const T>(buffer.data(), {buffer.size()}, owner);
}

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace fsstream

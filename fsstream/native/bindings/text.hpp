// A Python buffer lent to the core: text plus the reference that keeps it alive.
#pragma once

#include <Python.h>

#include <memory>
#include <string_view>

#include "bindings/bindings.hpp"

namespace fsstream {

// Text that may quote names of any bytes, as `fsstream.text.to_text` has it.
inline nb::str to_text(std::string_view text) {
  PyObject* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

struct LentText {
  std::string_view view;
  std::shared_ptr<const void> owner;
};

inline LentText lend(nb::handle object) {
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::string_view view(static_cast<const char*>(buffer->buf), static_cast<std::size_t>(buffer->len));
  const auto release = [](Py_buffer* lent) {
    const nb::gil_scoped_acquire held;
    PyBuffer_Release(lent);
    delete lent;
  };
  return {view, std::shared_ptr<Py_buffer>(buffer.release(), release)};
}

}  // namespace fsstream

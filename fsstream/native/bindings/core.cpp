#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/text.hpp"
#include "core/batch.hpp"
#include "core/dot.hpp"
#include "core/errors.hpp"
#include "core/row_copy.hpp"
#include "core/row_pairs.hpp"
#include "core/stop.hpp"
#include "hash/identity.hpp"

namespace fsstream {

namespace {

// Big arrays come from the system and go back to it when they are freed. Left to itself glibc
// raises that limit as they are freed, and keeps tens of megabytes of pages nobody uses.
void return_freed_memory() {
#ifdef __GLIBC__
  constexpr int kBig = 256 << 10;
  mallopt(M_MMAP_THRESHOLD, kBig);
  mallopt(M_TRIM_THRESHOLD, kBig);
#endif
}

thread_local PyObject* question = nullptr;

// What a handler of a signal raises, or the question of this thread, leaves the work that asked.
void ask_python() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  if (question != nullptr) nb::borrow(question)();
}

void set_question(const nb::object& asked) {
  Py_XDECREF(question);
  question = asked.is_none() ? nullptr : asked.inc_ref().ptr();
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// A batch built by hand: what the Python library and the tests feed to learners.
Batch from_arrays(Vector<std::uint64_t> row_starts, Vector<std::uint64_t> keys, Vector<float> values,
                  Vector<float> targets, nb::object importance, nb::object names, nb::object labels) {
  const std::size_t rows = targets.size();
  const std::size_t entries = keys.size();
  if (row_starts.size() != rows + 1 || values.size() != entries || row_starts(0) != 0 || row_starts(rows) != entries)
    throw std::invalid_argument("row_starts, keys, values and targets do not fit together");
  Batch batch;
  batch.start({}, nullptr);
  batch.keys.append(keys.data(), entries);
  batch.values.append(values.data(), entries);
  for (std::size_t r = 0; r < rows; ++r) {
    if (row_starts(r + 1) < row_starts(r)) throw std::invalid_argument("row_starts must not fall");
    const float target = targets(r);
    batch.end_row({}, target, 1.0F, 0);
    batch.row_starts.back() = row_starts(r + 1);
    batch.targets.back() = target;
  }
  if (!importance.is_none()) {
    const auto weights = nb::cast<Vector<float>>(importance);
    if (weights.size() != rows) throw std::invalid_argument("one importance per row");
    for (std::size_t r = 0; r < rows; ++r) batch.importance[r] = weights(r);
  }
  if (!names.is_none()) {
    batch.naming = Naming::kText;
    for (const nb::handle name : names) {
      const auto text = nb::cast<nb::bytes>(name);
      batch.names.push_back(batch.compose({text.c_str(), text.size()}));
    }
    if (batch.names.size() != entries) throw std::invalid_argument("one name per entry");
  }
  if (!labels.is_none()) {
    if (nb::len(labels) != rows) throw std::invalid_argument("one label per row");
    for (std::size_t r = 0; r < rows; ++r) {
      const auto text = nb::cast<nb::bytes>(labels[r]);
      batch.labels[r] = batch.compose({text.c_str(), text.size()});
    }
  }
  return batch;
}

nb::list texts(const Batch& batch, const Buffer<TextRef>& refs) {
  nb::list out;
  for (const TextRef ref : refs) out.append(to_bytes(batch.view(ref)));
  return out;
}

nb::list names(const Batch& batch) {
  nb::list out;
  std::string scratch;
  for (std::size_t j = 0; j < batch.entries(); ++j) out.append(to_bytes(batch.name(j, scratch)));
  return out;
}

void set_targets(Batch& batch, Vector<float> targets) {
  if (targets.size() != batch.rows()) throw std::invalid_argument("one target per row");
  std::copy_n(targets.data(), targets.size(), batch.targets.data());
}

nb::list bad_records(const Batch& batch) {
  nb::list out;
  for (const BadRecord& bad : batch.bad)
    out.append(nb::make_tuple(bad.record, bad.length, bad.column, to_text(bad.expected), to_text(bad.hint)));
  return out;
}

template <class X, class Y>
double dot_of(Vector<X> x, Vector<Y> y) {
  if (x.size() != y.size()) throw std::invalid_argument("the vectors differ in length");
  return dot(x.data(), y.data(), x.size());
}

template <class X>
double dot_baseline_of(Vector<X> x, Vector<double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("the vectors differ in length");
  return dot_baseline(x.data(), y.data(), x.size());
}

nb::tuple screened(Vector<float> x, Vector<float> residual, bool baseline) {
  if (x.size() != residual.size()) throw std::invalid_argument("the vectors differ in length");
  const auto found = baseline ? screen_moments_baseline(x.data(), residual.data(), x.size())
                              : screen_moments(x.data(), residual.data(), x.size());
  return nb::make_tuple(found.with_residual, found.sum, found.squares);
}

// Errors of the core become ours: "message" or "message\nhint"; `more` are further keywords.
template <class... Keyword>
void raise_as(const char* type, const char* text, const Keyword&... more) {
  const std::string_view message(text);
  const std::size_t split = message.find('\n');
  const nb::object error = nb::module_::import_("fsstream.errors").attr(type);
  const std::string_view line = message.substr(0, split);  // it may name a file that is not UTF-8
  const nb::object what =
      nb::steal(PyUnicode_DecodeFSDefaultAndSize(line.data(), static_cast<Py_ssize_t>(line.size())));
  nb::object hint = nb::none();
  if (split != std::string_view::npos) hint = to_text(message.substr(split + 1));
  PyErr_SetObject(error.ptr(), error(what, nb::arg("hint") = hint, more...).ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const LimitExceeded& error) {
    raise_as("LimitError", error.what());
  } catch (const BadInput& error) {
    raise_as("DataError", error.what());
  } catch (const Diverged& error) {
    raise_as("DivergedError", error.what(), nb::arg("row") = error.row());
  } catch (const CorruptData& error) {
    raise_as("CorruptError", error.what());
  }
}

}  // namespace

void bind_core(nb::module_& m) {
  ask_to_stop_with(&ask_python);
  m.def("ask_to_stop_with", &set_question, nb::arg("question").none());
  m.def("return_freed_memory", &return_freed_memory);
  nb::register_exception_translator(&translate);
  m.def("key_of_name", [](nb::bytes name) { return key_of_name({name.c_str(), name.size()}); }, nb::arg("name"));
  m.def("murmur3_64", [](nb::bytes name) { return murmur3_64({name.c_str(), name.size()}); }, nb::arg("name"));
  m.def("dot", &dot_of<float, float>, nb::arg("x"), nb::arg("y"));
  m.def("dot", &dot_of<float, double>, nb::arg("x"), nb::arg("y"));
  m.def("dot", &dot_of<double, double>, nb::arg("x"), nb::arg("y"));
  m.def("dot", &dot_of<std::int16_t, float>, nb::arg("x"), nb::arg("y"));
  m.def("dot", &dot_of<std::int16_t, double>, nb::arg("x"), nb::arg("y"));
  m.def("dot_baseline", &dot_baseline_of<float>, nb::arg("x"), nb::arg("y"));
  m.def("dot_baseline", &dot_baseline_of<std::int16_t>, nb::arg("x"), nb::arg("y"));
  m.def("screen_moments", &screened, nb::arg("x"), nb::arg("residual"), nb::arg("baseline") = false);

  m.def("pair_key", &pair_key, nb::arg("a"), nb::arg("b"));

  nb::class_<Batch>(m, "Batch")
      .def(nb::init<>())
      .def_static("from_arrays", &from_arrays, nb::arg("row_starts"), nb::arg("keys"), nb::arg("values"),
                  nb::arg("targets"), nb::arg("importance") = nb::none(), nb::arg("names") = nb::none(),
                  nb::arg("labels") = nb::none())
      .def("copy", &copy_of)
      .def("clear", [](Batch& batch) { batch.start({}, nullptr); })
      .def_rw("most_resident", &Batch::most_resident)
      .def_rw("read_elsewhere", &Batch::read_elsewhere)
      .def("release",
           [](Batch& batch) {
             Batch empty;
             empty.most_resident = batch.most_resident;
             empty.read_elsewhere = batch.read_elsewhere;
             batch = std::move(empty);
           })
      .def("__len__", &Batch::rows)
      .def_prop_ro("rows", &Batch::rows)
      .def_prop_ro("entries", &Batch::entries)
      .def_prop_ro("row_starts",
                   [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).row_starts, self); })
      .def_prop_ro("keys", [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).keys, self); })
      .def_prop_ro("values", [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).values, self); })
      .def_prop_ro("targets", [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).targets, self); })
      .def_prop_ro("importance",
                   [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).importance, self); })
      .def_prop_ro("label_values",
                   [](nb::handle_t<Batch> self) {
                     return view_of<double, nb::memview>(nb::cast<Batch&>(self).label_values, self);
                   })
      .def_prop_ro("records", [](nb::handle_t<Batch> self) { return view_of(nb::cast<Batch&>(self).records, self); })
      .def_prop_ro("skipped_windows", [](const Batch& batch) { return batch.skipped_windows; })
      .def_prop_ro("collisions", [](const Batch& batch) { return batch.collisions; })
      .def_prop_ro("bad", &bad_records)
      .def(
          "part",
          [](const Batch& batch, std::size_t first, std::size_t end) {
            if (end > batch.rows()) throw std::out_of_range("rows of a batch");
            Batch rows;
            rows.start({}, nullptr);
            for (std::size_t row = first; row < end; ++row) append_row(batch, row, rows);
            return rows;
          },
          nb::arg("first"), nb::arg("end"))
      .def(
          "with_pairs",
          [](const Batch& batch, std::size_t first, std::size_t enough, std::size_t most, std::size_t row_number) {
            Batch pairs;
            pairs.start({}, nullptr);
            const std::size_t next = append_pairs(batch, first, enough, most, row_number, pairs);
            return nb::make_tuple(std::move(pairs), next);
          },
          nb::arg("first"), nb::arg("enough"), nb::arg("most"), nb::arg("row_number"))
      .def(
          "set_importance",
          [](Batch& batch, Vector<float> importance) {
            if (importance.size() != batch.rows()) throw std::invalid_argument("one importance per row");
            std::copy_n(importance.data(), importance.size(), batch.importance.data());
          },
          nb::arg("importance"))
      .def("set_targets", &set_targets, nb::arg("targets"))
      .def("normalize_l2", &Batch::normalize_l2, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("source", [](const Batch& batch) { return nb::bytes(batch.source.data(), batch.source.size()); })
      .def_prop_ro("named", [](const Batch& batch) { return batch.naming != Naming::kDecimal; })
      .def("labels", [](const Batch& batch) { return texts(batch, batch.labels); })
      .def("tags", [](const Batch& batch) { return texts(batch, batch.tags); })
      .def("names", &names);
}

}  // namespace fsstream

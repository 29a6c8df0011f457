#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/text.hpp"
#include "core/lines.hpp"
#include "core/shuffle.hpp"
#include "core/spool.hpp"
#include "hash/murmur3.hpp"
#include "hash/running_digest.hpp"

namespace fsstream {

namespace {

using Chunks = std::vector<Buffer<char>>;

nb::list as_bytes(const Chunks& chunks) {
  nb::list out;
  for (const Buffer<char>& chunk : chunks) out.append(nb::bytes(chunk.data(), chunk.size()));
  return out;
}

// Runs `work(sink)` without the GIL; the chunks it completes.
template <class Work>
nb::list completed(Work work) {
  Chunks chunks;
  {
    const nb::gil_scoped_release released;
    work([&chunks](Buffer<char> chunk) { chunks.push_back(std::move(chunk)); });
  }
  return as_bytes(chunks);
}

std::size_t lines_in(nb::handle data) {
  const LentText text = lend(data);
  const nb::gil_scoped_release released;
  return count_lines(text.view);
}

std::uint64_t checksum(nb::handle data) {
  const LentText text = lend(data);
  const nb::gil_scoped_release released;
  return murmur3_64(text.view);
}

void add_bytes(RunningDigest& digest, nb::handle data) {
  const LentText text = lend(data);
  const nb::gil_scoped_release released;
  digest.add(text.view);
}

std::string spelled(const RunningDigest& digest) {
  char text[33];
  const auto [first, second] = digest.value();
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second));
  return text;
}

void decode_into(nb::handle chunk, Batch& batch) {
  LentText text = lend(chunk);
  batch.start({}, nullptr);  // lets go of what it held while the GIL is still there
  const nb::gil_scoped_release released;
  decode_chunk(text.view, std::move(text.owner), batch);
}

nb::tuple origin(nb::handle chunk, std::size_t row) {
  const LentText text = lend(chunk);
  const RowOrigin found = origin_of(text.view, row);
  return nb::make_tuple(nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(
                            found.source.data(), static_cast<Py_ssize_t>(found.source.size()))),
                        found.line);
}

nb::object order_of(std::size_t size, std::uint64_t seed) {
  auto* order = new Buffer<std::uint64_t>();
  const nb::capsule owner(order, [](void* held) noexcept { delete static_cast<Buffer<std::uint64_t>*>(held); });
  order->reserve(size);
  order->set_size(size);
  shuffled_order(seed, {order->data(), size});
  return nb::cast(nb::ndarray<nb::numpy, std::uint64_t>(order->data(), {size}, owner));
}

std::size_t gather(const std::vector<Batch*>& batches, Vector<std::uint64_t> order, std::size_t at,
                   std::size_t max_entries, Batch& out) {
  const std::vector<const Batch*> from(batches.begin(), batches.end());
  out.start({}, nullptr);
  const nb::gil_scoped_release released;
  return gather_rows(from, {order.data(), order.size()}, at, max_entries, out);
}

}  // namespace

void bind_sources(nb::module_& m) {
  m.def("count_lines", &lines_in, nb::arg("data"));
  m.def("checksum", &checksum, nb::arg("data"));
  m.def("decode_chunk", &decode_into, nb::arg("chunk"), nb::arg("batch"));
  m.def("decoded_size", [](nb::handle chunk) { return decoded_size(lend(chunk).view); }, nb::arg("chunk"));
  m.def("origin_of", &origin, nb::arg("chunk"), nb::arg("row"));
  m.def("shuffled_order", &order_of, nb::arg("size"), nb::arg("seed"));
  m.def("gather_rows", &gather, nb::arg("batches"), nb::arg("order"), nb::arg("at"), nb::arg("max_entries"),
        nb::arg("out"));
  nb::class_<RunningDigest>(m, "RunningDigest")
      .def(nb::init<>())
      .def("add", &add_bytes, nb::arg("data"))
      .def("copy", [](const RunningDigest& digest) { return RunningDigest(digest); })
      .def_prop_ro("text", &spelled);
  nb::class_<SpoolEncoder>(m, "SpoolEncoder")
      .def(
          "__init__",
          [](SpoolEncoder* self, std::size_t rows, std::size_t entries, std::size_t text) {
            new (self) SpoolEncoder({rows, entries, text});
          },
          nb::arg("rows") = ChunkLimits{}.rows, nb::arg("entries") = ChunkLimits{}.entries,
          nb::arg("text") = ChunkLimits{}.text)
      .def(
          "add",
          [](SpoolEncoder& self, const Batch& batch, std::uint64_t first_line) {
            return completed([&](const SpoolEncoder::Sink& sink) { self.add(batch, first_line, sink); });
          },
          nb::arg("batch"), nb::arg("first_line") = 1)
      .def("finish",
           [](SpoolEncoder& self) { return completed([&](const SpoolEncoder::Sink& sink) { self.finish(sink); }); });
}

}  // namespace fsstream

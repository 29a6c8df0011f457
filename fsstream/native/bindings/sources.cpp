#include "bindings/bindings.hpp"
#include "bindings/text.hpp"
#include "core/lines.hpp"

namespace fsstream {

void bind_sources(nb::module_& m) {
  m.def(
      "count_lines",
      [](nb::handle data) {
        const LentText text = lend(data);
        const nb::gil_scoped_release released;
        return count_lines(text.view);
      },
      nb::arg("data"));
}

}  // namespace fsstream

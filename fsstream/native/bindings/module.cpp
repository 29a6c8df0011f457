#include "bindings/bindings.hpp"

NB_MODULE(_native, m) {
  nanobind::set_leak_warnings(false);  // what a program still holds when it ends is its own affair
  m.doc() = "The native core of fsstream.";
  fsstream::bind_additive(m);
  fsstream::bind_bear(m);
  fsstream::bind_budgeted(m);
  fsstream::bind_core(m);
  fsstream::bind_generating_machine(m);
  fsstream::bind_sources(m);
  fsstream::bind_transpose(m);
  fsstream::bind_learn(m);
  fsstream::bind_newton(m);
  fsstream::bind_random_features(m);
  fsstream::bind_softmax(m);
  fsstream::bind_substitution(m);
  fsstream::bind_model(m);
  fsstream::bind_parse(m);
  fsstream::bind_parse_records(m);
  fsstream::bind_write(m);
}

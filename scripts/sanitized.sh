#!/bin/sh
# Run the Python of build/sanitized/venv, whose core is compiled with AddressSanitizer and UndefinedBehaviorSanitizer:
#   scripts/sanitized.sh -m pytest tests/unit
# `make asan` makes that environment first.
set -eu
cd "$(dirname "$0")/.."
compiler=${CXX:-c++}

# Python itself isn't instrumented, so the runtime must be there before it; libstdc++ too, or exceptions are not seen.
preload=
for library in libasan.so libstdc++.so; do
  file=$($compiler -print-file-name=$library)
  case $file in
    /*) preload="$preload $file" ;;
    *)
      echo "fsstream: error: $compiler has no $library: install gcc and its sanitizers (Fedora: dnf install libasan libubsan)" >&2
      exit 1
      ;;
  esac
done

# Python keeps objects until the process ends: leaks are not looked for. malloc instead of Python's arenas: every
# buffer gets its own red zones.
export LD_PRELOAD="${preload# }"
export PYTHONMALLOC=malloc
export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
exec build/sanitized/venv/bin/python "$@"

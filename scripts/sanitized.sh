#!/bin/sh
# Run a Python whose core is compiled with sanitizers, that of build/asan/venv or build/tsan/venv:
#   scripts/sanitized.sh asan -m pytest tests/unit     # AddressSanitizer and UndefinedBehaviorSanitizer
#   scripts/sanitized.sh tsan -m pytest tests/threads  # ThreadSanitizer
# `make asan` and `make tsan` make that environment first.
set -eu
cd "$(dirname "$0")/.."
compiler=${CXX:-c++}
kind=$1
shift

# Python itself isn't instrumented, so the runtime must be there before it; libstdc++ too, or exceptions are not seen.
preload=
for library in lib$kind.so libstdc++.so; do
  file=$($compiler -print-file-name=$library)
  case $file in
    /*) preload="$preload $file" ;;
    *)
      echo "fsstream: error: $compiler has no $library: install gcc and its sanitizers (Fedora: dnf install libasan libubsan libtsan)" >&2
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
# Only the core tells what it reads and writes; Python's locks and threads are seen as calls of pthread.
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
exec "build/$kind/venv/bin/python" "$@"

#!/usr/bin/env bash
# What must be equal everywhere, under every other Python that is here: python3.11 to python3.14 on the PATH.
#   scripts/other_pythons.sh [tests ...]
# Each gets a copy of what is committed, and its own environment, under build/. Says which it found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# = 0 ]; then
  set -- tests/golden tests/contract/test_output.py tests/cli/test_readme.py tests/oracle/test_mission.py \
    tests/unit/test_archive.py tests/library/test_examples.py
fi
for minor in 11 12 13 14; do
  python=$(command -v "python3.$minor" || true)
  if [ -z "$python" ] || ! "$python" -c '' 2> /dev/null; then  # a shim may have nothing behind it
    echo "python3.$minor: not on this machine"
    continue
  fi
  copy=build/python3.$minor
  rm -rf "$copy"
  git clone -q . "$copy"
  make -C "$copy" test PYTHON="$python" ARGS="-q $*"
  echo "python3.$minor: passed"
done

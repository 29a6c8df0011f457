"""Peak memory of every backend on a stream of names that never come again, beside what was declared.

    python scripts/measure_memory.py [--names N] [--memory SIZE] [--k N] [--algo NAME]...

Rows of ten names each, all of them new, through a pipe. A run may end with exit 4: then the limit was
kept by stopping. What is promised is a peak of at most --memory and 64 MB more for the program itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.units import parse_size

if TYPE_CHECKING:
    from typing import IO

PROGRAM = 64 << 20
PER_ROW = 10


def feed(pipe: IO[bytes], names: int) -> None:
    """Rows of names that never come again; the label hangs on one of a hundred words beside them."""
    try:
        for row in range(names // PER_ROW):
            fresh = b" ".join(b"name%d" % number for number in range(row * PER_ROW, (row + 1) * PER_ROW))
            word = row * 7919 % 100
            pipe.write(b"%d word%d %b\n" % (word < 50, word, fresh))
        pipe.close()
    except BrokenPipeError:
        pass  # it has ended


def measure(algo: str, names: int, memory: str, k: int) -> tuple[int, int]:
    """Exit status and peak of one run."""
    options = f"--algo {algo} --format tokens --memory {memory} --quiet --no-progress"
    if "k" in backend(algo).uses:
        options += f" --k {k}"
    process = subprocess.Popen(
        [sys.executable, "-m", "fsstream", "select", *options.split()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    feed(process.stdin, names)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--memory", default="64MB")
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--algo", action="append")
    given = parser.parse_args()
    allowed = parse_size(given.memory) + PROGRAM
    broken = False
    for algo in given.algo or BACKENDS:
        if backend(algo).access is Access.COLUMNS:  # which names its rows, not its columns, anew
            continue
        status, peak = measure(algo, given.names, given.memory, given.k)
        kept = peak <= allowed and status in (0, 4)
        broken = broken or not kept
        print(
            f"{algo:12} exit {status}  {peak / 1e6:6.0f} MB of {allowed / 1e6:.0f}"
            f"{'' if kept else '  NOT KEPT'}",
            flush=True,
        )
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())

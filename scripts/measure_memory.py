"""Peak memory of every backend on streams made to outgrow it, beside what was declared.

    python -m scripts.measure_memory                           # a million names that never come again
    python -m scripts.measure_memory --stream classes          # the streams: scripts/hostile_streams.py
    python -m scripts.measure_memory --count 1000000000 --algo mission

Through a pipe; backends that read one feature after the other are given those of `columns` for `names`.
A run may end with exit 4: then the limit was kept by stopping. What is promised is a peak of at most
--memory and 64 MB more for the program itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.units import parse_size
from scripts.hostile_streams import SAMPLES, STREAMS

PROGRAM = 64 << 20


def options_for(algo: str, stream: str, memory: str, k: int, targets: Path) -> str:
    """Of `fsstream select`; labels are said to be what they are, so that nothing is looked at first."""
    options = f"--algo {algo} --memory {memory} --quiet --no-progress"
    if "k" in backend(algo).uses:
        options += f" --k {k}"
    if stream == "columns":
        return f"{options} --format columns --targets {targets}"
    if stream in ("classes", "late"):
        softmax = "softmax" in backend(algo).losses
        options += f" --max-classes 2000000{' --loss softmax' if softmax else ''}"
    return f"{options} --format tokens"


def measure(command: list[str], stream: str, count: int) -> tuple[int, int, float]:
    """Exit status, peak and seconds of one run."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0
    )
    assert process.stdin is not None
    try:
        for piece in STREAMS[stream](count):
            left = memoryview(piece)
            while left:  # a write is cut short where the process is stopped and goes on
                left = left[process.stdin.write(left) :]
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stream", choices=STREAMS, default="names")
    parser.add_argument("--count", type=int, default=1_000_000, help="names, classes or features")
    parser.add_argument("--memory", default="64MB")
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--algo", choices=BACKENDS, action="append")
    given = parser.parse_args()
    allowed = parse_size(given.memory) + PROGRAM
    broken = False
    with tempfile.TemporaryDirectory() as folder:
        targets = Path(folder) / "targets"
        targets.write_text("".join(f"{sample % 2}\n" for sample in range(SAMPLES)))
        for algo in given.algo or BACKENDS:
            stream = given.stream
            if stream == "names" and backend(algo).access is Access.COLUMNS:
                stream = "columns"
            options = options_for(algo, stream, given.memory, given.k, targets)
            command = [sys.executable, "-m", "fsstream", "select", *options.split()]
            status, peak, seconds = measure(command, stream, given.count)
            kept = peak <= allowed and status in (0, 4)
            broken = broken or not kept
            found = f"{algo:12} exit {status}  {peak / 1e6:6.0f} MB of {allowed / 1e6:.0f}  {seconds:.0f} s"
            print(f"{stream} {given.count:,}: {found}{'' if kept else '  NOT KEPT'}", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())

"""What reading costs beside its limits: a bare read loop and `cat`.

    python scripts/bench_sources.py FILE [FILE...]      (plain, .gz, .bz2, .xz, .zst)

Best of several, interleaved, in CPU time (own and of `cat`), so that a busy machine does not blur it. Rates
are of plain (decompressed) bytes; the first two columns only fetch the file as it lies there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream._native import lines_end
from fsstream.sources import Input

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
BUFFER = 1 << 20


def bare_read(path: str) -> None:
    buffer = bytearray(BUFFER)
    with Path(path).open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def cat(path: str) -> None:
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)


def blocks(path: str) -> int:
    return sum(len(block.data) for block in Input([path]).blocks(lines_end))


def seconds(job: Callable[[str], object], path: str) -> float:
    start = sum(os.times()[:4])
    job(path)
    return max(sum(os.times()[:4]) - start, 0.01)  # the clock's tick


def main() -> None:
    jobs = {"bare read": bare_read, "cat": cat, "blocks": blocks}
    for path in sys.argv[1:]:
        size = blocks(path)
        best = dict.fromkeys(jobs, float("inf"))
        for _ in range(ROUNDS):
            for name, job in jobs.items():
                best[name] = min(best[name], seconds(job, path))
        rates = "  ".join(f"{name} {size / best[name] / 1e9:.3f} GB/s" for name in jobs)
        print(f"{path} ({size / 1e6:.0f} MB plain): {rates}")


if __name__ == "__main__":
    main()

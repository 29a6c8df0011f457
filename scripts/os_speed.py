"""Speed and memory of the columns family: figure 3, rejected arrivals, text, threads."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from os_problems import S, as_batch, planted

from fsstream import _native

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray
    from os_tables import Log


def threshold(given: argparse.Namespace, _: Log) -> None:
    """Figure 3: wall time on native threads until the objective is under a hundredth of its start."""
    print("\nTime to 1 % of the first objective, n = 1000, p = 8192, native threads\n")
    print("| task | workers | wall s | speed-up |\n|---|---|---|---|")
    for loss, s in (("squared", 64), ("squared-hinge", 32)):
        problem = planted(8192, 1, classes=loss != "squared", n=1000, s=s)
        target = 0.01 if loss == "squared" else 0.35
        y, parts = problem.y.astype(np.float32), as_batch(problem.X)
        alone = 0.0
        for q in (1, 2, 4):
            best = min(time_to(y, parts, loss, s, q, target) for _ in range(given.repetitions))
            alone = alone or best
            print(f"| {loss}, s = {s} | {q} | {best:.2f} | {alone / best:.2f} |", flush=True)


def time_to(y: NDArray[np.float32], batch: _native.Batch, loss: str, s: int, q: int, target: float) -> float:
    kernel = _native.AsynchronousSubstitution(y, loss, s, q, threads=True)
    goal = target * kernel.objective
    begin = time.perf_counter()
    for _ in range(12):
        kernel.update(batch)
        kernel.end_scan()
        if kernel.objective <= goal:
            return time.perf_counter() - begin
    return math.inf


def rejected(kernel: _native.ColumnPool, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """The columns that cost O(n): rejected without a look at the pool."""
    cheap = []
    kernel.end_scan()
    for j, column in enumerate(columns):
        before = kernel.counts[1]
        kernel.update(as_batch(column[:, None], 1000 + j))
        cheap.append(kernel.counts[1] > before)
    print(f"\n{np.mean(cheap):.1%} of the arrivals are rejected in O(n); the rest are retained or looked at")
    return columns[np.array(cheap)]


def speed(given: argparse.Namespace, _: Log) -> None:
    """Columns in memory: 10,000 samples, k = 100, noise after a thousand features of which 50 matter."""
    n, p = 10_000, 3000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((p, n), dtype=np.float32)
    kept = X[:1000]
    y = (kept[:50].T @ rng.standard_normal(50) + rng.standard_normal(n)).astype(np.float32)
    kernel = _native.ColumnPool(y, S)
    kernel.update(as_batch(kept.T))
    for _ in range(3):  # until nothing enters any more
        kernel.end_scan()
        kernel.update(as_batch(X[1000:].T, 1000))
    noise = as_batch(rejected(kernel, X[1000:]).T, 1_000_000)
    before = kernel.counts
    best, bare = math.inf, math.inf
    flat = noise.values
    for _ in range(max(given.repetitions, 5)):
        kernel.end_scan()
        begin = time.perf_counter()
        kernel.update(noise)
        best = min(best, time.perf_counter() - begin)
        begin = time.perf_counter()
        flat.sum(), noise.keys.max()
        bare = min(bare, time.perf_counter() - begin)
    seen, screened = (after - now for after, now in zip(kernel.counts[:2], before[:2], strict=True))
    size = 4 * n * len(noise)
    print("\nRejected arrivals\n\n| what | GB/s of values | with the batch's keys |\n|---|---|---|")
    share = f"{screened / seen:.1%} rejected in O(n)"
    print(f"| os (pool), {share} | {size / best / 1e9:.2f} | {3 * size / best / 1e9:.2f} |")
    print(f"| numpy sum of values, max of keys | {size / bare / 1e9:.2f} | {3 * size / bare / 1e9:.2f} |")
    problem = planted(2000, 3)
    batch, targets = as_batch(problem.X), problem.y.astype(np.float32)
    print("\n| asynchronous threads, two scans of p = 2000 | wall s |\n|---|---|")
    for q in (1, 2):
        times = []
        for _ in range(max(given.repetitions, 5)):
            asynchronous = _native.AsynchronousSubstitution(targets, "squared", S, q, threads=True)
            begin = time.perf_counter()
            for _ in range(2):
                asynchronous.update(batch)
                asynchronous.end_scan()
            times.append(time.perf_counter() - begin)
        print(f"| {q} | {min(times):.3f} |")


MEMORY_CHILD = """
import resource, sys, numpy as np
from fsstream import _native
n, total = 2000, int(sys.argv[1])
rng = np.random.default_rng(0)
kernel = _native.ColumnPool(rng.standard_normal(n).astype(np.float32), 50)
starts, keys = np.arange(101, dtype=np.uint64) * n, np.tile(np.arange(1, n + 1, dtype=np.uint64), 100)
for part in range(total // 100):
    kernel.update(_native.Batch.from_arrays(starts, keys, rng.standard_normal(100 * n, dtype=np.float32),
        np.zeros(100, np.float32), labels=[b"%d" % (100 * part + j) for j in range(100)]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, kernel.column_bytes)
"""


def memory(_: argparse.Namespace, __: Log) -> None:
    print("\n| features of 2,000 samples, k = 50 | peak RSS MB | retained columns, bytes |\n|---|---|---|")
    for total in (1000, 10_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY_CHILD, str(total)], capture_output=True, text=True, check=True
        )
        rss, kept = done.stdout.split()
        print(f"| {total:,} | {rss} | {int(kept):,} |", flush=True)

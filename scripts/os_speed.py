"""Speed of the columns family: rejected arrivals against a bare read, and text."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from os_problems import S, as_batch

import fsstream
from fsstream import _native

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray
    from os_tables import Log

SAMPLES = 10_000


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def passed_by(parts: int) -> _native.ColumnPool:
    """A pool of k = 100 that thousands of columns have passed, of which the first 50 matter; says of each
    thousand what became of it."""
    rng = np.random.default_rng(0)
    first = rng.standard_normal((1000, SAMPLES), dtype=np.float32)
    y = (first[:50].T @ rng.standard_normal(50) + rng.standard_normal(SAMPLES)).astype(np.float32)
    kernel = _native.ColumnPool(y, S)
    print("\n| thousand | entered | rejected by one read | compared with the model | GB/s of values |")
    print("|---|---|---|---|---|")
    for part in range(parts):
        columns = rng.standard_normal((1000, SAMPLES), dtype=np.float32) if part else first
        batch = as_batch(columns.T, 1000 * part)
        before = kernel.counts
        taken = seconds(lambda batch=batch: kernel.update(batch))  # type: ignore[misc]
        seen, read, entered, _ = np.subtract(kernel.counts, before)
        speed = batch.values.nbytes / taken / 1e9
        print(f"| {part + 1} | {entered} | {read} | {seen - read - entered} | {speed:.2f} |", flush=True)
    return kernel


def rejected(given: argparse.Namespace, _: Log) -> None:
    """Columns in memory, dense, k = 100: an arrival that is rejected against a bare read of it."""
    kernel = passed_by(8)
    columns = np.random.default_rng(1).standard_normal((1000, SAMPLES), dtype=np.float32)
    cheap = []
    for j, column in enumerate(columns):
        before = kernel.counts[1]
        kernel.update(as_batch(column[:, None], 10_000 + j))
        cheap.append(kernel.counts[1] > before)
    noise = as_batch(columns[np.array(cheap)].T, 1_000_000)
    values, keys = noise.values, noise.keys

    def arrive() -> None:
        kernel.end_scan()
        kernel.update(noise)

    works: dict[str, Callable[[], object]] = {
        "os (pool)": arrive,
        "bare read of values and sample numbers (numpy sum, max)": lambda: (values.sum(), keys.max()),
        "bare read of values (numpy sum)": values.sum,
    }
    times = np.array([[seconds(work) for work in works.values()] for _ in range(given.repetitions)])
    print("\n| what | GB/s of values, median | GB/s of values, best | os takes of its speed, median |")
    print("|---|---|---|---|")
    size = values.nbytes / 1e9
    for column, name in enumerate(works):
        share = np.median(times[:, column] / times[:, 0])
        taken = times[:, column]
        print(f"| {name} | {size / np.median(taken):.2f} | {size / taken.min():.2f} | {share:.2f} |")


def text(given: argparse.Namespace, _: Log) -> None:
    """From `columns` text: parsed only, the first scan, in which the pool fills, and scans later on."""
    with tempfile.TemporaryDirectory() as folder:
        columns, targets = Path(folder) / "columns", Path(folder) / "targets"
        lines, y = dense_lines(800)
        columns.write_bytes(b"".join(lines))
        targets.write_text("".join(f"{value:.4f}\n" for value in y))
        size = columns.stat().st_size / 1e6
        rounds = []
        for _ in range(min(given.repetitions, 5)):
            parsed, *scans = (cost(columns, targets, passes) for passes in (0, 1, 2, 4))
            rounds.append([parsed, scans[0], (scans[2] - scans[1]) / 2])
        print(f"\n{size:.0f} MB of text, 800 columns\n\n| what | MB/s of CPU |\n|---|---|")
        whats = ("parsed (fsstream.read)", "os, k = 100, first scan", "os, third and fourth scan")
        for what, spent in zip(whats, np.min(rounds, axis=0), strict=True):
            print(f"| {what} | {size / spent:.0f} |", flush=True)


def dense_lines(features: int) -> tuple[list[bytes], NDArray[np.float64]]:
    """Dense columns of four decimals as text, and targets that the first 50 make."""
    rng = np.random.default_rng(0)
    spelled = [b"%.4f" % value for value in rng.standard_normal(4096)]
    numbers = [b" %d:" % sample for sample in range(1, SAMPLES + 1)]
    y = rng.standard_normal(SAMPLES)
    lines = []
    for feature in range(features):
        drawn = [spelled[place] for place in rng.integers(0, len(spelled), SAMPLES)]
        if feature < 50:
            y += rng.standard_normal() * np.array(drawn, dtype=np.float64)
        entries = b"".join(number + value for number, value in zip(numbers, drawn, strict=True))
        lines.append(b"%d%s\n" % (feature + 1, entries))
    return lines, y


def cost(columns: Path, targets: Path, passes: int) -> float:
    """CPU seconds of so many scans; of parsing alone when there are none."""
    begin = time.process_time()
    if passes == 0:
        for _ in fsstream.read(columns, format="columns", targets=str(targets), threads=1):
            pass
    else:
        form = {"format": "columns", "targets": str(targets), "loss": "squared"}
        fsstream.select(columns, algo="os", k=S, passes=passes, threads=1, **form)
    return time.process_time() - begin

"""What a row costs B-ARDA and B-AMD: against numpy, against `mission`, against the number of features.

CPU time of learners alone, ratios of what ran in the same process. In: the options of reproduce_barda.py.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from barda_runs import Settings, learner
from shuffled_data import Rows, halves, read

if TYPE_CHECKING:
    import argparse


def literal_step(state: list, x_index: np.ndarray, x: np.ndarray, y: float, budget: int) -> None:
    """Algorithm 1 in numpy, all d coordinates, eta = 0.03 and lambda = 1e-4."""
    w, total, squares, t = state
    slope = -2.0 * max(0.0, 1.0 - y * float(w[x_index] @ x)) * y
    total[x_index] += slope * x
    squares[x_index] += (slope * x) ** 2
    h = 0.01 + np.sqrt(squares)
    z = -0.03 * total / (1e-4 * 0.03 * (t + 1) + h)
    v = h * z * z
    kept = np.lexsort((np.arange(len(v)), -v))[:budget]
    w[:] = 0.0
    w[kept] = z[kept]
    state[3] = t + 1


def speed(options: argparse.Namespace) -> None:
    """The kernel against the literal transcription, one pass over basehock (d = 26,214)."""
    rows, _ = halves(options.data / "basehock")
    d, starts = 26_215, rows.starts.astype(np.int64)
    sample = 200
    for budget in (50, 200):
        state = [np.zeros(d), np.zeros(d), np.zeros(d), 0]
        begun = time.process_time()
        for r in range(sample):
            cut = slice(starts[r], starts[r + 1])
            literal_step(
                state,
                rows.keys[cut].astype(np.int64),
                rows.values[cut].astype(float),
                rows.targets[r],
                budget,
            )
        slow = (time.process_time() - begun) / sample
        batch = rows.batch()
        for algorithm in ("b-arda", "b-amd"):
            quick = [math.inf] * 4  # pass by pass
            for _ in range(5):
                learning = learner(algorithm, budget, 1, Settings(eta=0.03, lam=1e-4))
                for number in range(len(quick)):
                    begun = time.process_time()
                    learning.update(batch)
                    quick[number] = min(quick[number], (time.process_time() - begun) / len(rows))
            spent = ", ".join(f"{1e6 * q:.2f} us ({slow / q:.0f} times)" for q in quick)
            print(f"B = {budget}, {algorithm}: literal {1e6 * slow:.0f} us a row; passes {spent}", flush=True)


def stream(options: argparse.Namespace) -> None:
    """Learners of fixed size against `mission` on the rows of stream_data.py, interleaved, CPU time."""
    batch = read(options.data / "train.svm").batch()
    fixed = Settings(parameters=(("store", "sketch"), ("sketch_width", 1 << 18)))
    rivals = {"mission": Settings(), "b-amd": fixed, "b-arda": fixed}
    ratios: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(5):
        spent = {}
        for name, settings in rivals.items():
            learning = learner(name, 16_384, 1, settings)
            begun = time.process_time()
            learning.update(batch)
            spent[name] = time.process_time() - begun
        for name, seconds in spent.items():
            ratios[name].append(seconds / spent["mission"])
    for name, values in ratios.items():
        print(f"{name}: {min(values):.2f} to {max(values):.2f} times mission, median {np.median(values):.2f}")


def flat(options: argparse.Namespace) -> None:
    """Cost of a row against d: 50 non-zeros drawn from d features, lambda > 0, B = 100."""
    rng = np.random.default_rng(0)
    for d in (10**4, 10**5, 10**6, 10**7):
        n, size = 20_000, 50
        keys = (d * rng.random((n, size)) ** 4).astype(np.uint64)
        keys.sort(axis=1)
        keep = np.concatenate([np.ones((n, 1), bool), keys[:, 1:] != keys[:, :-1]], axis=1)
        starts = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.uint64)
        values = np.full(int(starts[-1]), 0.15, np.float32)
        targets = np.where((keys < d // 1000).sum(axis=1) > 8, 1, -1).astype(np.float32)
        batch = Rows(starts, keys[keep], values, targets).batch()
        for algorithm in options.algorithms:
            learning = learner(algorithm, 100, 1, Settings(eta=0.1, lam=1e-3))
            begun = time.process_time()
            learning.update(batch)
            spent = time.process_time() - begun
            print(
                f"d = {d:,}, {algorithm}: {1e6 * spent / n:.2f} us a row, "
                f"{learning.facts()['features_kept']:,} features kept",
                flush=True,
            )

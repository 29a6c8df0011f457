"""Planted and real problems for the experiments of the columns family, and their batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import zstandard
from numpy.typing import NDArray

from fsstream import _native

if TYPE_CHECKING:
    from pathlib import Path

S, NOISE = 100, 0.1
Array = NDArray[np.float64]


@dataclass
class Problem:
    """Planted data and the truth."""

    X: Array
    y: Array
    w: Array
    X_test: Array | None = None
    y_test: Array | None = None
    batch: _native.Batch | None = None  # of X, where it is made once for all methods

    @property
    def support(self) -> set[int]:
        return set(np.flatnonzero(self.w).tolist())


def planted(
    p: int, seed: int, correlation: float = 0.0, classes: bool = False, n: int = 0, s: int = S
) -> Problem:
    """Section 5 of the paper: Gaussian columns, s Gaussian weights, noise 0.1, n = 1.2 s log2 p."""
    rng = np.random.default_rng(seed)
    n = n or int(1.2 * s * math.log2(p))
    X = rng.standard_normal((2 * n if classes else n, p))
    for j in range(1, p if correlation else 1):
        X[:, j] = correlation * X[:, j - 1] + math.sqrt(1 - correlation**2) * X[:, j]
    w = np.zeros(p)
    w[rng.choice(p, s, replace=False)] = rng.standard_normal(s)
    if classes:
        y = np.sign(X @ w)
        return Problem(X[:n], y[:n], w, X[n:], y[n:])
    return Problem(X, X @ w + NOISE * rng.standard_normal(n), w)


def as_batch(X: Array, first: int = 0) -> _native.Batch:
    """Columns of X as the rows of a batch, named by numbers from `first`; without zeros where most are."""
    n, p = X.shape
    values = np.ascontiguousarray(X.T, dtype=np.float32)
    if 2 * np.count_nonzero(values) > values.size:
        starts, keys = np.arange(p + 1) * n, np.tile(np.arange(1, n + 1, dtype=np.uint64), p)
        values = values.ravel()
    else:
        columns, rows = np.nonzero(values)
        starts, keys = np.searchsorted(columns, np.arange(p + 1)), rows.astype(np.uint64) + np.uint64(1)
        values = values[columns, rows]
    labels = [b"%d" % j for j in range(first, first + p)]
    return _native.Batch.from_arrays(
        starts.astype(np.uint64), keys, values, np.zeros(p, np.float32), labels=labels
    )


def load(path: Path, p: int) -> tuple[Array, Array]:
    """A libsvm file as dense rows."""
    text = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().decode()
    lines = text.splitlines()
    X, y = np.zeros((len(lines), p)), np.zeros(len(lines))
    for row, line in enumerate(lines):
        label, *entries = line.split()
        y[row] = float(label)
        for entry in entries:
            index, value = entry.split(":")
            X[row, int(index) - 1] = float(value)
    return X, np.where(y == y.max(), 1.0, -1.0)


SIZES = {"leukemia_golub": 7129, "colon_alon": 2000, "dorothea": 100_000, "mnist38": 784}


FILES = {"dorothea": ("train", "test"), "mnist38": ("train",)}


@cache
def loaded(name: str, data: Path) -> tuple[Array, Array]:
    """All rows a split may take to train or test with."""
    if not (data / name).is_dir():
        raise SystemExit(f"{data / name} is not there: --data names the folder of the real sets")
    parts = [load(data / name / f"{file}.libsvm.zst", SIZES[name]) for file in FILES.get(name, ("all",))]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def split(name: str, data: Path, seed: int) -> Problem:
    """Rows drawn to train with: 1 % of mnist38, 800 of dorothea's 1,150, two thirds of the others."""
    X, y = loaded(name, data)
    order = np.random.default_rng(seed).permutation(len(y))
    cut = {"mnist38": int(0.01 * len(y)), "dorothea": 800}.get(name, int(2 / 3 * len(y)))
    train, test = order[:cut], order[cut:]
    rows = X[train]
    return Problem(rows, y[train], np.zeros(X.shape[1]), X[test], y[test], as_batch(rows))

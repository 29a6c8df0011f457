"""Rows for the online learners: drawn dense, handed to the kernel as batches of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from fsstream._native import Batch, OnlineLearner

Vector = NDArray[np.float64]


def batch_of(rows: Vector, targets: Vector, keys: NDArray[np.uint64] | None = None) -> Batch:
    """The non-zeros of each row; column i has key i unless `keys` says otherwise."""
    keys = np.arange(rows.shape[1], dtype=np.uint64) if keys is None else keys
    filled = rows != 0
    starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.uint64)
    return Batch.from_arrays(
        starts,
        np.ascontiguousarray(keys[np.nonzero(filled)[1]]),
        rows[filled].astype(np.float32),
        targets.astype(np.float32),
    )


@st.composite
def streams(draw: st.DrawFn, counts: bool = False, rows: int = 60) -> tuple[Vector, Vector]:
    """Rows and +-1 targets of a noisy linear rule: real values, or small counts that tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(2, 30))
    density = draw(st.sampled_from([0.1, 0.4, 1.0]))
    values = rng.integers(1, 4, (rows, d)) if counts else rng.normal(size=(rows, d))
    x = np.where(rng.random((rows, d)) < density, values, 0).astype(np.float32).astype(np.float64)
    y = np.where(x @ rng.normal(size=d) + 0.3 * rng.normal(size=rows) > 0, 1.0, -1.0)
    return x, y


def weights_of(kernel: OnlineLearner, d: int) -> Vector:
    """The kernel's weights, dense."""
    names, weights = kernel.chosen()
    out = np.zeros(d)
    out[[int(name) for name in names]] = weights
    return out


def check_whole_run(oracle: Any, kernel: OnlineLearner, rows: Vector, targets: Vector, budget: int) -> None:
    """The same scores and weights, to rounding, and never more weights than the budget."""
    scores = kernel.update(batch_of(rows, targets))
    expected = [oracle.step(x, y) for x, y in zip(rows, targets, strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights_of(kernel, oracle.d), oracle.w, rtol=1e-4, atol=1e-7)
    assert np.count_nonzero(weights_of(kernel, oracle.d)) <= budget

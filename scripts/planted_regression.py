"""Planted regression for the simulations of MISSION: draws, rules, and what a rule finds.

A draw is `rows` (Gaussian numbers, float32, in all columns or in some) with `targets` = the sum of a few of
its columns. Rules either read the rows, or descend along the gradient of all of them: a full gradient is one
row to a learner of constant steps, so that the matrix stays an array and a step costs one product with it.
That is what `--set batch=ROWS` does row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from fsstream._native import Batch
from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner

SETTLED = 1e-3  # share of the targets' length that is left: with k weights this is the support


@dataclass(frozen=True)
class Draw:
    """Rows, what they are to give, and the columns that give it."""

    rows: np.ndarray
    targets: np.ndarray
    support: frozenset[int]

    def attenuated(self, alpha: float) -> Draw:
        """The same draw, the columns of the support divided by alpha."""
        rows = self.rows.copy()
        rows[:, sorted(self.support)] /= np.float32(alpha)
        return Draw(rows, self.targets / np.float32(alpha), self.support)

    def scores(self, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Of the rows, by the weights of some columns."""
        found: np.ndarray = self.rows[:, columns] @ weights
        return found

    def gradient(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns and the mean gradient there."""
        return np.arange(self.rows.shape[1]), (residual @ self.rows) / np.float32(len(residual))


@dataclass(frozen=True)
class SparseDraw:
    """The same with rows of few entries; a gradient has the columns of the rows that are not met yet."""

    rows: csr_array
    targets: np.ndarray
    support: frozenset[int]

    @cached_property
    def columns(self) -> Any:
        """The rows by column."""
        return self.rows.tocsc()

    def scores(self, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Of the rows, by the weights of some columns."""
        found: np.ndarray = self.columns[:, columns] @ weights
        return found

    def gradient(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns and the mean gradient there."""
        off = np.flatnonzero(residual)
        some = self.rows[off].tocoo()
        columns, places = np.unique(some.col, return_inverse=True)
        sums = np.bincount(places, some.data * residual[off][some.row], len(columns))
        return columns, (sums / len(residual)).astype(np.float32)


def planted(n: int, p: int, k: int, seed: int) -> Draw:
    """n Gaussian rows of p columns and the sum of k of them."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal(size=(n, p), dtype=np.float32)
    support = rng.choice(p, k, replace=False)
    return Draw(rows, rows[:, support].sum(axis=1), frozenset(support.tolist()))


def planted_sparse(n: int, p: int, k: int, seed: int, entries: int) -> SparseDraw:
    """n rows of so many entries, in random columns whose mean square is 1, and the sum of k columns."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(n * entries, dtype=np.float32) * np.float32(np.sqrt(p / entries))
    columns = rng.integers(0, p, n * entries, dtype=np.int32)
    rows = csr_array((values, columns, np.arange(0, n * entries + 1, entries)), (n, p))
    rows.sum_duplicates()
    support = rng.choice(p, k, replace=False)
    weights = np.zeros(p, np.float32)
    weights[support] = 1
    return SparseDraw(rows, rows @ weights, frozenset(support.tolist()))


def as_batch(rows: np.ndarray, targets: np.ndarray, columns: np.ndarray | None = None) -> Batch:
    """Dense rows as a learner reads them, named by column (of 0, 1, ... unless given)."""
    n, width = rows.shape
    names = np.arange(width, dtype=np.uint64) if columns is None else columns.astype(np.uint64)
    starts = width * np.arange(n + 1, dtype=np.uint64)
    return Batch.from_arrays(starts, np.tile(names, n), rows.ravel(), targets)


@dataclass(frozen=True)
class Rule:
    """An algorithm of the simulations, without intercept."""

    name: str
    settings: dict[str, Any]
    rates: tuple[float | None, ...] = (0.1,)  # the best one counts
    passes: int = 20
    full: bool = False  # a pass is one step along the gradient of all rows
    cooling: int = 0  # steps in which 1 - gamma doubles

    def learner(self, rate: float | None, k: int) -> Learner:
        """A new one."""
        settings = dict(self.settings)
        if self.cooling:
            settings |= {"gamma": 0.999, "gamma_doubling": self.cooling}
        kind = backend(self.name)
        common = Common(k=k, learning_rate=rate, intercept=False, memory=1 << 33)
        return kind(common, kind.Parameters(**settings), Task("squared"))

    def finds(self, draw: Draw | SparseDraw, rate: float | None = None) -> bool:
        """Whether exactly the support is selected, at a rate (the first one unless given)."""
        learner = self.learner(self.rates[0] if rate is None else rate, len(draw.support))
        try:
            if self.full:
                descend(learner, draw, self.passes)
            elif isinstance(draw, Draw):
                read(learner, draw, self.passes)
            return {int(name) for name in learner.selection().raw_names} == draw.support
        except FsstreamError:  # diverged: this rate is no good
            return False


def read(learner: Learner, draw: Draw, passes: int) -> None:
    """The rows, so many times."""
    batch = as_batch(draw.rows, draw.targets)
    for _ in range(passes):
        learner.update(batch)


def descend(learner: Learner, draw: Draw | SparseDraw, steps: int) -> None:
    """Steps along the mean gradient, made one row whose error is 1, until the targets are met."""
    for _ in range(steps):
        kept = listed(learner)
        weights = weights_of(learner, kept)
        residual = draw.targets - draw.scores(kept, weights)
        if np.linalg.norm(residual.astype(float)) <= SETTLED * np.linalg.norm(draw.targets):
            return
        columns, gradient = draw.gradient(residual)
        at = np.searchsorted(columns, kept).clip(max=len(columns) - 1)
        score = weights.astype(float) @ np.where(columns[at] == kept, gradient[at], 0)
        learner.update(as_batch(gradient[np.newaxis], np.array([score + 1], np.float32), columns))


def listed(learner: Learner) -> np.ndarray:
    """Columns that may count in a score."""
    state = learner.state()
    return state["active_keys" if "active_keys" in state else "keys"].astype(np.int64)


def weights_of(learner: Learner, columns: np.ndarray) -> np.ndarray:
    """What a score has of each column's value."""
    n = len(columns)
    starts, names, ones = np.arange(n + 1, dtype=np.uint64), columns.astype(np.uint64), np.ones(n, np.float32)
    return np.asarray(learner.kernel.predict(Batch.from_arrays(starts, names, ones, ones)))

"""Planted regression for the simulations of MISSION: draws, rules, and what a rule finds.

A draw is `rows` (dense Gaussian numbers, float32) with `targets` = the sum of a few of its columns. Rules
either read the rows, or descend along the gradient of all of them: a full gradient is one row to a learner of
constant steps, so that the matrix stays an array and a step costs one product with it. That is what
`--set batch=ROWS` does row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import Batch
from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner


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


def planted(n: int, p: int, k: int, seed: int) -> Draw:
    """n Gaussian rows of p columns and the sum of k of them."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal(size=(n, p), dtype=np.float32)
    support = rng.choice(p, k, replace=False)
    return Draw(rows, rows[:, support].sum(axis=1), frozenset(support.tolist()))


def as_batch(rows: np.ndarray, targets: np.ndarray, columns: np.ndarray | None = None) -> Batch:
    """Dense rows as a learner reads them, named by column (of 0, 1, ... unless given)."""
    n, width = rows.shape
    names = np.arange(width, dtype=np.uint64) if columns is None else columns
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

    def finds(self, draw: Draw, rate: float | None = None) -> bool:
        """Whether exactly the support is selected, at a rate (the first one unless given)."""
        learner = self.learner(self.rates[0] if rate is None else rate, len(draw.support))
        try:
            (descend if self.full else read)(learner, draw, self.passes)
            return {int(name) for name in learner.selection().raw_names} == draw.support
        except FsstreamError:  # diverged: this rate is no good
            return False


def read(learner: Learner, draw: Draw, passes: int) -> None:
    """The rows, so many times."""
    batch = as_batch(draw.rows, draw.targets)
    for _ in range(passes):
        learner.update(batch)


def descend(learner: Learner, draw: Draw, steps: int) -> None:
    """Steps along the mean gradient, made one row whose error is 1."""
    n = len(draw.targets)
    for _ in range(steps):
        columns = listed(learner)
        residual = draw.targets - scores(learner, draw.rows, columns)
        gradient = ((residual @ draw.rows) / np.float32(n))[np.newaxis]
        learner.update(as_batch(gradient, scores(learner, gradient, columns) + np.float32(1)))


def listed(learner: Learner) -> np.ndarray:
    """Columns that may count in a score."""
    state = learner.state()
    return state["active_keys" if "active_keys" in state else "keys"]


def scores(learner: Learner, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """What the learner would give the rows, from those columns."""
    entries = rows[:, columns.astype(np.int64)]
    return learner.kernel.predict(as_batch(entries, np.zeros(len(rows), np.float32), columns))

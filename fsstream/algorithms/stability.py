"""Stability: an online bootstrap beside a learner, in the same pass.

B replicates of the kernel learn the same rows, each row as often as a Poisson(1) draw says: once in the
mean, like rows drawn with replacement (Oza and Russell, "Online Bagging and Boosting", 2001). The share
of replicates that select a feature, too, says how much the selection hangs on which rows were met.
Draws come from the seed, the replicate and the number of the row alone.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from fsstream.algorithms.row_draws import draws
from fsstream.numerics import np
from fsstream.state import Prefixed, under

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.algorithms.merging.shards import Shards
    from fsstream.selection import Selection
    from fsstream.state import StateSink

# Chances that a row is drawn 0, 1, ... 11 times or fewer.
_CHANCES = list(accumulate(math.exp(-1) / math.factorial(times) for times in range(12)))


def poisson_draws(seed: int, replicate: int, first: int, rows: int) -> NDArray[np.float32]:
    """How often each of the rows `first`, ... counts in a replicate."""
    uniform = draws(seed, replicate + 1, first, rows) / 2.0**64
    return np.searchsorted(_CHANCES, uniform, side="right").astype(np.float32)


class Bootstrap:
    """The replicates."""

    def __init__(self, make_kernel: Callable[[], Any], replicates: int, seed: int) -> None:
        self.kernels = [make_kernel() for _ in range(replicates)]
        self._seed = seed
        self._rows = 0

    def update(self, batch: Batch) -> None:
        """Every replicate learns the rows as often as it drew them."""
        if not self.kernels:
            return
        importance = np.array(batch.importance)
        for replicate, kernel in enumerate(self.kernels):
            draws = poisson_draws(self._seed, replicate, self._rows, batch.rows)
            batch.set_importance(importance * draws)
            kernel.update(batch)
        batch.set_importance(importance)
        self._rows += batch.rows

    def shares(self, selection: Selection) -> NDArray[np.float32]:
        """Of each selected feature: the share of replicates that select it, for its class."""
        chosen = _members(selection.raw_names, selection.classes)
        counts = np.zeros(len(chosen), np.float32)
        for kernel in self.kernels:
            names, _, *classes = kernel.top()
            also = set(_members(names, classes[0] if classes else None))
            counts += [member in also for member in chosen]
        return counts / np.float32(max(1, len(self.kernels)))

    def save(self, out: StateSink) -> None:
        """The arrays of all replicates."""
        for i, kernel in enumerate(self.kernels):
            kernel.save(Prefixed(out, f"replicate_{i}/"))
        if self.kernels:
            out.put("bootstrap_rows", np.array([self._rows], dtype=np.uint64))

    def merged(self, shards: Shards, merge: Callable[[Shards], dict[str, NDArray[Any]]]) -> dict[str, Any]:
        """Each replicate made of its counterparts in the shards."""
        arrays = {
            f"replicate_{i}/{name}": array
            for i in range(len(self.kernels))
            for name, array in merge(shards.part(f"replicate_{i}/")).items()
        }
        return {**arrays, "bootstrap_rows": shards.count("bootstrap_rows")} if self.kernels else {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        for i, kernel in enumerate(self.kernels):
            kernel.restore(under(f"replicate_{i}/", state))
        if self.kernels:
            self._rows = int(state["bootstrap_rows"][0])


def _members(names: Any, classes: Any) -> list[Any]:
    return list(names) if classes is None else list(zip(names, classes, strict=True))

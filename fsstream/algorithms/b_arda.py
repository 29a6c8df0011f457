"""B-ARDA: budgeted adaptive regularised dual averaging.

Objective  sum over rows of loss(w.x, y) + (l2 / 2) |w|^2 with at most k weights at any time.
Row        G += g, H = delta + sqrt(sum of g^2), z = -eta G / (l2 eta t + H); the k features
           with the largest H z^2 keep z as their weight.
Paper      Zhai, Wang, Koriche, Gao: "Online Feature Selection by Adaptive Sub-gradient Methods"
           (2018), Algorithm 1.
Departures None in the result (native/learn/b_arda.hpp says how the cost of a row is its own).
           Without --learning-rate, eta is half the inverse of a typical row's length, and
           without --l2 there is no shrinking: the defaults that need no grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.budgeted import (
    CELLS_PER_FEATURE,
    SQUARE_ROWS,
    SUM_ROWS,
    OnlineBackend,
    delta_parameter,
    planned,
    rate_of,
    ridge_of,
    width_of_sketch,
)
from fsstream.algorithms.feature_tables import numbered
from fsstream.algorithms.learner import BINARY_LOSSES, Common, Task, parameter, required_k
from fsstream.algorithms.sketch_shape import LEAST_WANTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards


@dataclass(frozen=True)
class BudgetedParameters:
    """What `--set` can change in B-ARDA and B-AMD."""

    delta: float = delta_parameter()
    store: str = parameter(
        "exact",
        "where sums over the rows are kept: exact: for every feature seen, so memory grows up to --memory; "
        "sketch: in tables of fixed size that features share, exact only for the best so far",
        choices=("exact", "sketch"),
    )
    sketch_width: int = parameter(
        0,
        f"with store=sketch: cells in a row, a power of two; 0: {CELLS_PER_FEATURE} for each of the k "
        f"features, at least {LEAST_WANTED:,}, fewer where half of --memory would not hold them",
        low=0,
        high=1 << 30,
    )
    truncation: str = parameter(
        "weighted",
        "which k features stay: weighted: by weight and by H, the root of the sum of squared gradients, as "
        "the paper has it; magnitude: by |weight| alone, as its section 4.1 compares",
        choices=("weighted", "magnitude"),
    )


class Budgeted(OnlineBackend):
    """One kernel of the two; subclasses name it."""

    losses: ClassVar[tuple[str, ...]] = (*BINARY_LOSSES, "squared")
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "init", "learning_rate", "l2", "passes", "intercept", "seed"}
    )
    Parameters: ClassVar[type] = BudgetedParameters

    def __init__(self, common: Common, parameters: BudgetedParameters, task: Task) -> None:
        self.store, self.parameters = parameters.store, parameters
        self.k, self.seed = required_k(common.k), common.seed
        self.width = width_of_sketch(common, parameters.store, parameters.sketch_width)
        kernel = _native.budgeted(
            self.name,
            loss=task.loss,
            budget=required_k(common.k),
            eta=rate_of(common),
            lam=ridge_of(common),
            delta=parameters.delta,
            intercept=common.intercept,
            weighted=parameters.truncation == "weighted",
            sketch_width=self.width,
            sketch_depth=SUM_ROWS,
            seed=common.seed,
            memory=common.memory,
        )
        super().__init__(kernel, common.passes)

    @property
    def rule(self) -> dict[str, Any]:
        """What decides who is kept."""
        return {"delta": self.parameters.delta, "weighted": self.parameters.truncation == "weighted"}

    def facts(self) -> dict[str, Any]:
        """Where the sums are."""
        return {**super().facts(), "store": self.store}

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """Of the exact store; a working set does not grow with the features."""
        return numbered(features, largest_key) if parameters.store == "exact" else 0

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The working set and the sketches; with store=exact the rest grows with the data."""
        k = required_k(common.k)
        width = width_of_sketch(common, parameters.store, parameters.sketch_width)
        return planned(2 * k if width else 0, width)


class BArda(Budgeted):
    """Dual averaging."""

    name: ClassVar[str] = "b-arda"
    summary: ClassVar[str] = "adaptive dual averaging with at most k weights; best where k is small"
    paper: ClassVar[str] = "Online Feature Selection by Adaptive Sub-gradient Methods, Algorithm 1"

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The sums of all gradients."""
        from fsstream.algorithms.merging.budgeted import b_arda

        stores = None
        if self.width:
            stores = (
                _native.CountSketch(SUM_ROWS, self.width, self.seed),
                _native.CountMin(SQUARE_ROWS, self.width, self.seed + 1),
            )
        return b_arda(shards, k=self.k, stores=stores, **self.rule)

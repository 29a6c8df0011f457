"""Iterative hard thresholding: after every step the k largest weights stay, all else is forgotten.

Objective  sum over rows of loss(b + w.x, y) + (l2 / 2) |w|^2, with b free and at most k weights.
Row        w <- H_k(w - learning_rate * slope * x); softmax: so in every class. With `batch` the step
           is along the mean gradient of so many rows.
Paper      Aghazadeh et al.: "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches",
           ICML 2018, equation (3) and the baseline IHT of section 6.1; after Blumensath, Davies:
           "Iterative hard thresholding for compressed sensing", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.learner import ALL_LOSSES, Common, Task, parameter, required_k
from fsstream.algorithms.sgd import SEAT, SgdLearner, bounded, checked_l2, pass_tolerance, rate_of
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards


@dataclass(frozen=True)
class IhtParameters:
    """What `--set` can change."""

    batch: int = parameter(
        1,
        "rows that make one step together, by the mean of their gradients; those left at the end of a pass "
        "make one, too. With as many as there are rows, steps follow the full gradient, as the theory of "
        "hard thresholding has it",
        low=1,
    )
    tolerance: float = pass_tolerance()


class Iht(SgdLearner):
    """SGD that keeps the k largest weights after every row and nothing else.

    Steps are of 0.5 unless --learning-rate is given; with a squared loss they are then shorter in long rows.
    """

    name: ClassVar[str] = "iht"
    summary: ClassVar[str] = "iterative hard thresholding: SGD cut to the k largest weights after every row"
    paper: ClassVar[str] = "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches, equation (3)"
    losses: ClassVar[tuple[str, ...]] = ALL_LOSSES
    auto_binary_loss: ClassVar[str] = "logistic"
    intercept_default: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset({"k", "init", "learning_rate", "l2", "passes", "intercept"})
    Parameters: ClassVar[type] = IhtParameters

    def __init__(self, common: Common, parameters: Any, task: Task) -> None:
        self.k, self.room, self.batch = required_k(common.k), self.table(common, parameters), parameters.batch
        self.rows_a_step = self.batch
        options: dict[str, Any] = {
            "k": common.k,
            "table": self.room,
            "batch": parameters.batch,
            "learning_rate": rate_of(common),
            "l2": checked_l2(common),
            "intercept": common.intercept,
            "memory": common.memory,
        }
        kernel: _native.Sgd | _native.ClassDescent
        if task.loss == "softmax":
            kernel = _native.ClassDescent(classes=len(task.labels), **options)
        else:
            kernel = bounded(_native.Sgd.iht(loss=task.loss, **options), common)
        super().__init__(kernel, common.passes, parameters.tolerance)

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The largest of the averaged weights, for each class."""
        from fsstream.algorithms.merging import sketched

        if self.batch != 1:
            raise UsageError("learners with --set batch cannot be merged", hint="merge their models")
        store = sketched.accumulated(self.k, self.room) if self.room else sketched.thresholded(self.k)
        if isinstance(self.kernel, _native.ClassDescent):
            return sketched.class_descent(shards, store, len(self.kernel.intercepts))
        return sketched.descent(shards, store)

    @classmethod
    def table(cls, common: Common, parameters: Any) -> int:
        """Entries of the table that is pruned when it is full; 0: after each row."""
        return 0

    def facts(self) -> dict[str, Any]:
        """Weights kept, and how many were dropped or how often was pruned."""
        return {**super().facts(), **self.kernel.counts()}

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The k weights of each class known by now."""
        classes = max(1, len(task.labels)) if task.loss == "softmax" else 1
        return {"weights": SEAT * (common.k or 1) * classes}

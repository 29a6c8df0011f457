"""Feature hashing: the same descent over a table of 2^bits weights, all of them in use.

Selects nothing and names nothing; it is the ceiling that `mission` is measured against.
Paper: Weinberger, Dasgupta, Langford, Smola, Attenberg: "Feature Hashing for Large Scale
Multitask Learning", ICML 2009; the baseline FH of the MISSION paper.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.learner import ALL_LOSSES, Common, Task, parameter
from fsstream.algorithms.sgd import (
    SgdLearner,
    bounded,
    checked_l2,
    lanes_for,
    pass_tolerance,
    rate_of,
    softmax_kernel,
)
from fsstream.errors import UsageError
from fsstream.numerics import np
from fsstream.selection import Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards
    from fsstream.model import Model


@dataclass(frozen=True)
class HashingParameters:
    """What `--set` can change."""

    bits: int = parameter(20, "the table has 2^bits weights", low=1, high=30)
    tolerance: float = pass_tolerance()


class Hashing(SgdLearner):
    """A dense table under a hash.

    Steps are of 0.5 unless --learning-rate is given; with a squared loss they are then shorter in long rows.
    """

    name: ClassVar[str] = "hashing"
    summary: ClassVar[str] = "feature hashing: a dense table of weights, nothing selected; a ceiling"
    paper: ClassVar[str] = "Feature Hashing for Large Scale Multitask Learning"
    losses: ClassVar[tuple[str, ...]] = ALL_LOSSES
    auto_binary_loss: ClassVar[str] = "logistic"
    merge_refusal: ClassVar[str | None] = "it selects nothing, so its models hold no weights"
    intercept_default: ClassVar[bool] = True
    predicts_with_state: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset({"init", "learning_rate", "l2", "passes", "intercept", "seed"})
    Parameters: ClassVar[type] = HashingParameters

    def __init__(self, common: Common, parameters: HashingParameters, task: Task) -> None:
        self.seed = common.seed
        make = self._softmax if task.loss == "softmax" else self._one_output
        super().__init__(make(common, parameters, task), common.passes, parameters.tolerance)

    def _one_output(self, common: Common, parameters: HashingParameters, task: Task) -> _native.Sgd:
        kernel = _native.Sgd.hashing(
            loss=task.loss,
            bits=parameters.bits,
            seed=common.seed,
            learning_rate=rate_of(common),
            l2=checked_l2(common),
            intercept=common.intercept,
            memory=common.memory,
        )
        return bounded(kernel, common)

    def _softmax(self, common: Common, parameters: HashingParameters, task: Task) -> _native.SoftmaxLearner:
        width = 1 << parameters.bits
        return softmax_kernel(
            common,
            task,
            k=0,
            forget=1.0,
            adaptive=False,
            exact=False,
            depth=1,
            width=width,
            least_width=width,
        )

    def selection(self) -> Selection:
        """Nothing: a cell is not a feature."""
        return Selection([], array("f"))

    def scores(self, batch: _native.Batch) -> NDArray[np.float32]:
        """What the table says of the rows."""
        assert isinstance(self.kernel, _native.Sgd | _native.SoftmaxLearner)
        return np.atleast_2d(np.asarray(self.kernel.predict(batch)).T).T

    def start_from(self, model: Model) -> None:
        """A model without state has none of the cells."""
        raise UsageError(
            "--init: hashing goes on from a whole table, and the model holds none",
            hint="train it with --with-state",
        )

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The mean of the tables: a table is linear, so this is exact."""
        from fsstream.algorithms.merging import classes, sketched

        if isinstance(self.kernel, _native.SoftmaxLearner):
            shape = classes.Shape(k=0, depth=1, seed=self.seed, exact=False, adaptive=False)
            return classes.softmax(shards, self.kernel.state(), shape)
        return sketched.descent(shards, sketched.table)

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The table."""
        return {"table": 4 * lanes_for(task) << parameters.bits}

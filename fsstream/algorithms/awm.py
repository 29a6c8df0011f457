"""AWM-Sketch: a count-sketch of all weights, the k heaviest exactly beside it, both in predictions.

Objective  sum over rows of loss(b + w.x, y) + (l2 / 2) |w|^2, with b free.
Row t      rate = learning_rate / (1 + learning_rate * l2 * t); active weights step in the active set,
           others in the sketch, unless the new weight exceeds the smallest active one: then they
           change places and the sketch is corrected (native/learn/weight_median.hpp).
Paper      Tai, Sharan, Bailis, Valiant: "Sketching Linear Classifiers over Data Streams",
           SIGMOD 2018. What is written and predicted with is the active set alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.learner import Common, Task, parameter, required_k
from fsstream.algorithms.mission_parameters import MissionParameters, sketch_width
from fsstream.algorithms.sgd import SEAT, SgdLearner, bounded, checked_l2, pass_tolerance, rate_of
from fsstream.algorithms.sketch_shape import CELL_BYTES, checked_depth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards


@dataclass(frozen=True)
class AwmParameters:
    """What `--set` can change."""

    sketch_width: int = parameter(
        0,
        "cells in a row of the sketch, a power of two; 0: as many as mission has for this k",
        low=0,
        high=1 << 30,
    )
    sketch_depth: int = parameter(1, "rows of the sketch: 1, 3, 5 or 7", low=1, high=7)
    tolerance: float = pass_tolerance()


class Awm(SgdLearner):
    """The active-set weight-median sketch.

    Steps are of 0.5 unless --learning-rate is given; with a squared loss they are then shorter in long rows.
    """

    name: ClassVar[str] = "awm"
    summary: ClassVar[str] = "active-set weight-median sketch: the k heaviest weights beside a count-sketch"
    paper: ClassVar[str] = "Sketching Linear Classifiers over Data Streams, the AWM-Sketch"
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared-hinge", "squared")
    auto_binary_loss: ClassVar[str] = "logistic"
    intercept_default: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "init", "learning_rate", "l2", "passes", "intercept", "seed"}
    )
    Parameters: ClassVar[type] = AwmParameters

    def __init__(self, common: Common, parameters: AwmParameters, task: Task) -> None:
        self.k, self.shape = (
            required_k(common.k),
            (
                checked_depth(parameters.sketch_depth),
                sketch_width(common, like_mission(parameters)),
                common.seed,
            ),
        )
        kernel = _native.Sgd.awm(
            loss=task.loss,
            k=self.k,
            depth=self.shape[0],
            width=self.shape[1],
            seed=self.shape[2],
            learning_rate=rate_of(common),
            l2=checked_l2(common),
            intercept=common.intercept,
            memory=common.memory,
        )
        super().__init__(bounded(kernel, common), common.passes, parameters.tolerance)

    def facts(self) -> dict[str, Any]:
        """Active weights, and how often one asked to enter a full set."""
        return {**super().facts(), **self.kernel.counts()}

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The k largest beside the mean of the sketches."""
        from fsstream.algorithms.merging import sketched

        return sketched.descent(shards, sketched.weight_median(self.k, _native.CountSketch(*self.shape)))

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The sketch and the active set."""
        width = sketch_width(common, like_mission(parameters))
        return {
            "sketch": CELL_BYTES * parameters.sketch_depth * width,
            "active set": SEAT * required_k(common.k),
        }


def like_mission(parameters: Any) -> MissionParameters:
    """The shape of the sketch, as mission's parameters."""
    return MissionParameters(
        sketch_width=parameters.sketch_width, sketch_depth=checked_depth(parameters.sketch_depth)
    )

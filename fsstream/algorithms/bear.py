"""BEAR: MISSION with second-order steps: online L-BFGS whose weights lie in a count-sketch.

Objective  mean over a mini-batch of loss(b + w.x, y) + (l2 / 2) |w|^2, with b free and k weights.
Batch      g = gradient at the active weights; z = two-loop recursion on g with the last pairs;
           w += -learning_rate z; the pair is what w and the gradient of the same rows changed by
           (native/learn/bear.hpp, which names the departures).
Paper      Aghazadeh, Gupta, DeWeese, Koyluoglu, Ramchandran: "BEAR: Sketching BFGS Algorithm for
           Ultra-High Dimensional Feature Selection in Sublinear Memory".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fsstream import _native
from fsstream.algorithms.awm import like_mission
from fsstream.algorithms.learner import Common, Task, parameter, required_k
from fsstream.algorithms.mission_parameters import sketch_width
from fsstream.algorithms.sgd import SEAT, SgdLearner, checked_l2, pass_tolerance, rate_of
from fsstream.algorithms.sketch_shape import CELL_BYTES, checked_depth


@dataclass(frozen=True)
class BearParameters:
    """What `--set` can change."""

    memory_pairs: int = parameter(
        5,
        "how many of the last steps the curvature of the loss is estimated from; 0: plain gradient steps",
        low=0,
        high=100,
    )
    batch: int = parameter(
        32, "rows that make one step together; those left at the end of a pass make one, too", low=1
    )
    damping: float = parameter(
        0.1,
        "added to the estimated curvature, in units of the mean square of all values: the larger, the "
        "shorter are steps where the loss is flat",
        low=0,
    )
    sketch_width: int = parameter(
        0,
        "cells in a row of the sketch, a power of two; 0: as many as mission has for this k",
        low=0,
        high=1 << 30,
    )
    sketch_depth: int = parameter(3, "rows of the sketch: 1, 3, 5 or 7", low=1, high=7)
    tolerance: float = pass_tolerance()


class Bear(SgdLearner):
    """Limited-memory BFGS over a count-sketch."""

    name: ClassVar[str] = "bear"
    summary: ClassVar[str] = "online L-BFGS in a count-sketch; the k heaviest features are active"
    paper: ClassVar[str] = (
        "BEAR: Sketching BFGS Algorithm for Ultra-High Dimensional Feature Selection in Sublinear Memory"
    )
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared-hinge", "squared")
    auto_binary_loss: ClassVar[str] = "logistic"
    state_refusal: ClassVar[str | None] = "the curvature of one shard says nothing of another's rows"
    intercept_default: ClassVar[bool] = True
    entry_bytes: ClassVar[int] = 128
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "init", "learning_rate", "l2", "passes", "intercept", "seed"}
    )
    Parameters: ClassVar[type] = BearParameters

    def __init__(self, common: Common, parameters: BearParameters, task: Task) -> None:
        kernel = _native.Bear(
            loss=task.loss,
            k=required_k(common.k),
            depth=checked_depth(parameters.sketch_depth),
            width=sketch_width(common, like_mission(parameters)),
            seed=common.seed,
            memory_pairs=parameters.memory_pairs,
            batch=parameters.batch,
            damping=parameters.damping,
            learning_rate=rate_of(common),
            l2=checked_l2(common),
            intercept=common.intercept,
            memory=common.memory,
        )
        super().__init__(kernel, common.passes, parameters.tolerance)
        self.rows_a_step = parameters.batch

    def facts(self) -> dict[str, Any]:
        """Active weights, pairs held, and how often a feature asked to enter a full set."""
        return {**super().facts(), **self.kernel.counts()}

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Sketch and active set; the mini-batch and the pairs are counted as rows come."""
        width = sketch_width(common, like_mission(parameters))
        return {
            "sketch": CELL_BYTES * parameters.sketch_depth * width,
            "active set": SEAT * required_k(common.k),
        }

"""MISSION: stochastic gradient descent inside a count-sketch, the k heaviest features active.

Objective  sum over rows of loss(b + w.x, y) + (l2 / 2) |w|^2, with b free and at most k
           weights in use at any time.
Row        step=constant: w += -learning_rate * slope * x, added to the sketch; what the sketch
           says of a feature's weight decides whether it is among the top k.
           step=adaptive, the default: a Newton step for each feature from its own evidence,
           which needs no rate and no scaling of the columns (native/learn/newton.hpp).
Classes    softmax: the weights of all classes lie side by side in the cells of one sketch, with
           the top k of each class beside it (native/learn/softmax_learner.hpp). A late class is
           given room: while half of --memory allows it by wider cells, then by half as many.
Paper      Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk: "MISSION: Ultra
           Large-Scale Feature Selection using Count-Sketches", ICML 2018, Algorithm 1.
           Section 5.1: `sketch=identity` with `gamma` and `gamma_doubling`; section 9: `batch`.
Departures The top k are kept by a threshold and a prune at 2k candidates instead of a heap
           operation for every weight. `active=exact` keeps the weights of active features
           beside the sketch instead of in it. Adaptive steps are ours: with a constant one the
           paper's rule loses to any tuned learner on real text, and fails on columns of unlike
           units. `rule=paper` is `step=constant` with `active=estimated`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.learner import ALL_LOSSES, Common, Task, required_k
from fsstream.algorithms.mission_parameters import (
    BLOCK_CELLS,
    CANDIDATE_BYTES,
    EVIDENCE_BYTES,
    KEPT_BYTES,
    NAME_BYTES,
    MissionParameters,
    is_adaptive,
    is_exact,
    numbers_of_part,
    refits,
    sketch_depth,
    width_for,
)
from fsstream.algorithms.sgd import SEAT, SgdLearner, checked_l2, lanes_for, rate_of, softmax_kernel
from fsstream.algorithms.sketch_shape import CELL_BYTES, SMALLEST_WIDTH
from fsstream.algorithms.stability import Bootstrap
from fsstream.errors import CorruptError, UsageError
from fsstream.numerics import np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards
    from fsstream.algorithms.sgd import Kernel
    from fsstream.numerics import Floats
    from fsstream.selection import Selection
    from fsstream.state import StateSink

KEPT_ROWS = "rows of a short stream, at most"  # bytes of the plan
PAIRS_AT_ONCE = 1 << 18  # entries that pairs are made of before they are learned


class Mission(SgdLearner):
    """Count-sketch SGD, for one output or for classes side by side."""

    name: ClassVar[str] = "mission"
    summary: ClassVar[str] = (
        "stochastic gradient descent in a count-sketch; the k heaviest features are active"
    )
    paper: ClassVar[str] = "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches, Algorithm 1"
    losses: ClassVar[tuple[str, ...]] = ALL_LOSSES
    auto_binary_loss: ClassVar[str] = "logistic"
    intercept_default: ClassVar[bool] = True
    entry_bytes: ClassVar[int] = 80
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "init", "learning_rate", "l2", "passes", "intercept", "seed"}
    )
    Parameters: ClassVar[type] = MissionParameters

    def __init__(self, common: Common, parameters: MissionParameters, task: Task) -> None:
        self.depth = sketch_depth(common, parameters, task)
        self.width = width_for(common, parameters, task)
        self.adaptive = is_adaptive(common, parameters)
        if parameters.refit == "no" and not self.adaptive:
            raise UsageError("--set refit=no has no use with constant steps, which never refit")
        self.exact = is_exact(common, parameters)
        self.identity = parameters.sketch == "identity"
        self.parameters = parameters
        self.rows_a_step = parameters.batch
        self.k, self.seed = required_k(common.k), common.seed
        self.room = self.plan(common, parameters, task).get(KEPT_ROWS, 0) // 2
        super().__init__(self._kernel(common, parameters, task), common.passes, parameters.tolerance)
        self.bootstrap = Bootstrap(
            lambda: self._kernel(common, parameters, task), parameters.stability, common.seed
        )

    def update(self, batch: _native.Batch) -> Floats:
        """Learn the rows, with their pairs if asked for; return what they would have been given before."""
        if self.parameters.interactions == 1:
            return self._learn(batch)
        scores, row = [], 0
        while row < batch.rows:
            most = self.parameters.pairs_per_row
            pairs, row = batch.with_pairs(row, PAIRS_AT_ONCE, most, self.kernel.rows + 1)
            scores.append(self._learn(pairs))
        return joined(scores)

    def _learn(self, batch: _native.Batch) -> Floats:
        scores = self.kernel.update(batch)
        self.bootstrap.update(batch)
        return scores

    def kernels(self) -> list[Kernel]:
        """The one that selects, and its replicates."""
        return [self.kernel, *self.bootstrap.kernels]

    def selection(self) -> Selection:
        """The k best, and how stable each is when that was asked for."""
        chosen = super().selection()
        if self.parameters.stability == 0:
            return chosen
        return replace(chosen, extra={"stability": self.bootstrap.shares(chosen)})

    def save(self, out: StateSink) -> None:
        """The kernel's arrays, and its replicates'."""
        super().save(out)
        self.bootstrap.save(out)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        super().restore(state)
        try:
            self.bootstrap.restore(state)
        except (KeyError, RuntimeError) as error:
            raise CorruptError(f"the saved state does not fit these options: {error}") from error

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The mean of the sketches with the evidence of all; of each replicate, too."""
        return {**self._merged(shards), **self.bootstrap.merged(shards, self._merged)}

    def _merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        from fsstream.algorithms.merging import mission

        return mission.merged(self, shards)

    def _kernel(
        self, common: Common, parameters: MissionParameters, task: Task
    ) -> _native.Sgd | _native.Newton | _native.SoftmaxLearner:
        if task.loss == "softmax":
            return self._softmax(common, parameters, task)
        if parameters.sketch == "identity":
            return _native.Sgd.identity(**self._constant_steps(common, parameters, task))
        return (self._newton if self.adaptive else self._constant)(common, parameters, task)

    def _newton(self, common: Common, parameters: MissionParameters, task: Task) -> _native.Newton:
        return _native.Newton(
            loss=task.loss,
            k=required_k(common.k),
            depth=self.depth,
            width=self.width,
            seed=common.seed,
            intercept=common.intercept,
            memory=common.memory,
            forget=parameters.forget,
            room=self.room,
        )

    def _constant(self, common: Common, parameters: MissionParameters, task: Task) -> _native.Sgd:
        return _native.Sgd.mission(
            exact=self.exact,
            depth=self.depth,
            width=self.width,
            seed=common.seed,
            **self._constant_steps(common, parameters, task),
        )

    def _constant_steps(self, common: Common, parameters: MissionParameters, task: Task) -> dict[str, Any]:
        return {
            "loss": task.loss,
            "k": required_k(common.k),
            "batch": parameters.batch,
            "learning_rate": rate_of(common),
            "l2": checked_l2(common),
            "gamma": parameters.gamma,
            "gamma_doubling": parameters.gamma_doubling,
            "intercept": common.intercept,
            "memory": common.memory,
            "forget": parameters.forget,
        }

    def _softmax(self, common: Common, parameters: MissionParameters, task: Task) -> _native.SoftmaxLearner:
        for name in ("gamma", "batch", "sketch"):
            if getattr(parameters, name) != getattr(MissionParameters, name):
                raise UsageError(
                    f"--set {name} has no use with the softmax loss",
                    hint="--loss logistic: one learner a class",
                )
        return softmax_kernel(
            common,
            task,
            k=required_k(common.k),
            adaptive=self.adaptive,
            exact=self.exact,
            forget=parameters.forget,
            depth=self.depth,
            width=self.width,
            least_width=parameters.sketch_width or SMALLEST_WIDTH,
        )

    def facts(self) -> Mapping[str, Any]:
        """Shape of the sketch, candidates, and names that met on one key."""
        collided = [
            (known.decode(errors="replace"), met.decode(errors="replace"))
            for known, met in self.kernel.collided()
        ]
        shape = {
            "active": "exact" if self.exact else "estimated",
            "sketch_width": getattr(self.kernel, "width", self.width),
            "sketch_depth": self.depth,
        }
        return {
            **super().facts(),
            "step": "adaptive" if self.adaptive else "constant",
            **({} if self.identity else shape),
            **self.kernel.counts(),
            "collided": collided,
        }

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Sketch, active set with room for 2k candidates, and their names; of each class known by now."""
        lanes, classes = lanes_for(task), max(1, len(task.labels) if task.loss == "softmax" else 1)
        if parameters.sketch == "identity":
            return {"active set": SEAT * required_k(common.k)}  # the cells are counted as features come
        candidates = 2 * required_k(common.k) * classes
        exact, adaptive = is_exact(common, parameters), is_adaptive(common, parameters)
        depth = sketch_depth(common, parameters, task)
        if task.loss == "softmax":
            column, beside = depth * lanes + (1 if adaptive else 0), 2 * (CELL_BYTES + 1) * lanes
        else:
            column = BLOCK_CELLS // numbers_of_part(depth) if exact else depth
            beside = EVIDENCE_BYTES if adaptive else 0
        plan = {
            "sketch": CELL_BYTES * column * width_for(common, parameters, task),
            "active set": (CANDIDATE_BYTES + beside) * max(candidates, 8),
            "names": NAME_BYTES * candidates,
        }
        copies = parameters.stability + 1
        if refits(common, parameters, task):
            left = (CANDIDATE_BYTES + NAME_BYTES) * max(candidates // 2, 8)  # what the last prune let go
            room = (common.memory // copies - sum(plan.values()) - left) // 4
            if room > 0:
                plan[KEPT_ROWS] = 2 * min(KEPT_BYTES, room)  # and as much again for the refit
                plan["candidates that left, at most"] = left
        if parameters.stability:
            plan["replicates"] = parameters.stability * sum(plan.values())
        return plan


def joined(parts: Sequence[Floats]) -> NDArray[np.float32]:
    """Scores of the parts of a batch; a class that an early part had not met yet scored -inf."""
    arrays = [np.asarray(part) for part in parts]
    if not arrays:
        return np.empty(0, np.float32)
    if arrays[0].ndim == 1:
        return np.concatenate(arrays)
    widest = arrays[-1].shape[1]
    return np.concatenate(
        [
            np.pad(part, ((0, 0), (0, widest - part.shape[1])), constant_values=-np.float32(np.inf))
            for part in arrays
        ]
    )

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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream import _native
from fsstream.algorithms.learner import ALL_LOSSES, Common, Task, parameter
from fsstream.algorithms.merging.classes import Shape, softmax
from fsstream.algorithms.merging.newton import newton
from fsstream.algorithms.merging.sketched import descent, sketched
from fsstream.algorithms.sgd import SEAT, SgdLearner, checked_l2, lanes_for, rate_of, softmax_kernel
from fsstream.algorithms.stability import Bootstrap
from fsstream.errors import CorruptError, LimitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards
    from fsstream.selection import Selection
    from fsstream.state import StateSink

CELL = 4  # bytes of a cell of the sketch
BLOCK = 16  # cells of a block, where active weights live beside the sketch
CANDIDATE = 48  # bytes a candidate takes in the active set, its table being half full
NUMBERS = 24  # bytes more where evidence is kept beside the weight
NAME = 32  # bytes planned for a name; long ones are counted as they come
SMALLEST_WIDTH, LARGEST_WIDTH = 1 << 12, 1 << 26
DEPTH = 3
PAIRS_AT_ONCE = 1 << 18  # entries that pairs are made of before they are learned
CELLS_PER_FEATURE = 16  # of a sketch row, for each of the k features
SINGLE_ROW = 4  # times as wide is the row of a sketch that has one where others have three


@dataclass(frozen=True)
class MissionParameters:
    """What `--set` can change."""

    rule: str = parameter(
        "default",
        "paper: the literal algorithm, which is step=constant and active=estimated",
        choices=("default", "paper"),
    )
    step: str | None = parameter(
        None,
        "adaptive: diagonal Newton steps, nothing to tune, any units; constant: learning_rate * slope. "
        "Adaptive unless --learning-rate, --l2, gamma, active=estimated or rule=paper asks for constant ones",
        choices=("adaptive", "constant"),
    )
    active: str = parameter(
        "exact",
        "where the weights of active features live: exact, beside the sketch; estimated, in it",
        choices=("exact", "estimated"),
    )
    sketch: str = parameter(
        "count",
        "count: a count-sketch of all weights; identity: a cell for each feature ever met, in memory that "
        "grows with them, and constant steps",
        choices=("count", "identity"),
    )
    sketch_width: int = parameter(
        0,
        "cells in a row of the sketch, a power of two; 0: 16 for each of the k features, at least 65,536, "
        "less where half of --memory would not hold it; four times as many in a single row of classes",
        low=0,
        high=1 << 28,
    )
    sketch_depth: int = parameter(
        0,
        "rows of the sketch: 1, 3, 5 or 7; 0: 3, or 1 for classes with the softmax loss and exact weights",
        low=0,
        high=7,
    )
    gamma: float = parameter(
        1.0, "factor on all that is not among the top k, after each row; 1 keeps everything", low=0.5, high=1
    )
    gamma_doubling: float = parameter(
        0.0,
        "rows after which 1 - gamma has doubled, so that gamma falls step by step to 0.5; 0: it stays",
        low=0,
    )
    batch: int = parameter(
        1, "rows whose mean gradient makes one constant step; as many as there are: full gradients", low=1
    )
    forget: float = parameter(
        1.0,
        "for streams that drift: factor on all evidence once a row, with constant steps on all weights; "
        "1 forgets nothing",
        low=0.5,
        high=1,
    )
    interactions: int = parameter(
        1,
        "2: each pair of a row's features is a feature, too, named a*b, its value the product",
        low=1,
        high=2,
    )
    pairs_per_row: int = parameter(
        100_000, "interactions=2: most pairs of a row; more end the run", low=1, high=1 << 30
    )
    stability: int = parameter(
        0,
        "B: add to each feature the share of B bootstrap replicates that also select it; time and memory "
        "are B + 1 times those of one",
        low=0,
        high=1000,
    )
    tolerance: float = parameter(
        1e-3, "with several passes: stop when a pass lowers the mean loss by less than this share", low=0
    )


def power_of_two_below(number: int) -> int:
    """The largest power of two that is not above `number`."""
    return 1 << (number.bit_length() - 1)


def sketch_depth(common: Common, parameters: MissionParameters, task: Task) -> int:
    """The depth asked for, or the default.

    A median guards against heavy weights; where those are beside the sketch, one row of all cells errs least.
    """
    if parameters.sketch_depth:
        return checked_depth(parameters.sketch_depth)
    return 1 if task.loss == "softmax" and is_exact(common, parameters) else DEPTH


def sketch_width(
    common: Common, parameters: MissionParameters, lanes: int = 1, *, single_row: bool = False
) -> int:
    """The width asked for, or the default for this k in this memory."""
    width = parameters.sketch_width
    if width != 0:
        if width & (width - 1) or width == 1:
            raise UsageError(
                f"sketch_width={width} is not a power of two",
                hint=f"--set sketch_width={power_of_two_below(width)} or {2 * power_of_two_below(width)}",
            )
        return width
    wanted = max(1 << 16, CELLS_PER_FEATURE * (common.k or 1))
    depth = parameters.sketch_depth or DEPTH
    if single_row:
        wanted, depth = SINGLE_ROW * wanted, 1
    copies = 2 * (parameters.stability + 1)
    fitting = common.memory // (copies * CELL * depth * lanes)
    limit = min(LARGEST_WIDTH, power_of_two_below(max(fitting, SMALLEST_WIDTH)))
    return min(2 * power_of_two_below(wanted - 1), limit)


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
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "init", "learning_rate", "l2", "passes", "intercept", "seed"}
    )
    Parameters: ClassVar[type] = MissionParameters

    def __init__(self, common: Common, parameters: MissionParameters, task: Task) -> None:
        planned = sum(self.plan(common, parameters, task).values())
        if planned > common.memory:
            raise LimitError(
                f"mission needs {planned:,} bytes, --memory allows {common.memory:,}",
                hint="raise --memory, or lower --k or --set sketch_width",
            )
        self.depth = sketch_depth(common, parameters, task)
        self.width = width_for(common, parameters, task)
        self.adaptive = is_adaptive(common, parameters)
        self.exact = is_exact(common, parameters)
        self.identity = parameters.sketch == "identity"
        self.parameters = parameters
        self.rows_a_step = parameters.batch
        self.k, self.seed = required_k(common), common.seed
        super().__init__(self._kernel(common, parameters, task), common.passes, parameters.tolerance)
        self.bootstrap = Bootstrap(
            lambda: self._kernel(common, parameters, task), parameters.stability, common.seed
        )

    def update(self, batch: _native.Batch) -> NDArray[np.float32]:
        """Learn the rows, with their pairs if asked for; return what they would have been given before."""
        if self.parameters.interactions == 1:
            return self._learn(batch)
        scores, row = [], 0
        while row < batch.rows:
            most = self.parameters.pairs_per_row
            pairs, row = batch.with_pairs(row, PAIRS_AT_ONCE, most, self.kernel.rows + 1)
            scores.append(self._learn(pairs))
        return joined(scores)

    def _learn(self, batch: _native.Batch) -> NDArray[np.float32]:
        scores = self.kernel.update(batch)
        self.bootstrap.update(batch)
        return scores

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
        if isinstance(self.kernel, _native.SoftmaxLearner):
            shape = Shape(self.k, self.depth, self.seed, self.exact, self.adaptive)
            return softmax(shards, self.kernel.state(), shape)
        if self.identity or self.parameters.batch != 1:
            what = "--set sketch=identity" if self.identity else "--set batch"
            raise UsageError(f"learners with {what} cannot be merged", hint="merge their models")
        kind = _native.BlockSketch if self.exact else _native.CountSketch
        sketch = kind(self.depth, self.width, self.seed)
        if isinstance(sketch, _native.BlockSketch) and self.adaptive:
            return newton(shards, self.k, sketch, numbers_of_part(self.depth))
        return descent(shards, sketched(self.k, sketch, exact=self.exact))

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
            k=required_k(common),
            depth=self.depth,
            width=self.width,
            seed=common.seed,
            intercept=common.intercept,
            memory=common.memory,
            forget=parameters.forget,
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
            "k": required_k(common),
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
            k=required_k(common),
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
            return {"active set": SEAT * required_k(common)}  # the cells are counted as features come
        candidates = 2 * required_k(common) * classes
        exact, adaptive = is_exact(common, parameters), is_adaptive(common, parameters)
        depth = sketch_depth(common, parameters, task)
        if task.loss == "softmax":
            column, beside = depth * lanes + (1 if adaptive else 0), 2 * (CELL + 1) * lanes
        else:
            column = BLOCK // numbers_of_part(depth) if exact else depth
            beside = NUMBERS if adaptive else 0
        plan = {
            "sketch": CELL * column * width_for(common, parameters, task),
            "active set": (CANDIDATE + beside) * max(candidates, 8),
            "names": NAME * candidates,
        }
        if parameters.stability:
            plan["replicates"] = parameters.stability * sum(plan.values())
        return plan


def joined(parts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Scores of the parts of a batch; a class that an early part had not met yet scored -inf."""
    if not parts:
        return np.empty(0, np.float32)
    if parts[0].ndim == 1:
        return np.concatenate(parts)
    widest = parts[-1].shape[1]
    return np.concatenate(
        [
            np.pad(part, ((0, 0), (0, widest - part.shape[1])), constant_values=-np.float32(np.inf))
            for part in parts
        ]
    )


def numbers_of_part(depth: int) -> int:
    """Of a block, those that one row of the sketch owns; the last so many hold evidence."""
    return BLOCK >> depth.bit_length()


def width_for(common: Common, parameters: MissionParameters, task: Task) -> int:
    """Cells in a row of the sketch, of one number or of all classes."""
    single = parameters.sketch_depth == 0 and sketch_depth(common, parameters, task) == 1
    return sketch_width(common, parameters, lanes_for(task), single_row=single)


def is_exact(common: Common, parameters: MissionParameters) -> bool:
    """Whether active weights live beside the sketch."""
    return is_adaptive(common, parameters) or (parameters.active == "exact" and parameters.rule != "paper")


def is_adaptive(common: Common, parameters: MissionParameters) -> bool:
    """Whether steps find their own size; UsageError when they are told to and to do what they cannot."""
    wants_constant = {
        "--learning-rate": common.learning_rate is not None,
        "--l2": common.l2 != 0,
        "--set gamma": parameters.gamma != 1,
        "--set batch": parameters.batch != 1,
        "--set sketch=identity": parameters.sketch != "count",
        "--set active=estimated": parameters.active != "exact",
        "--set rule=paper": parameters.rule == "paper",
    }
    given = [flag for flag, is_given in wants_constant.items() if is_given]
    if parameters.step == "adaptive" and given:
        raise UsageError(f"{given[0]} has no use with adaptive steps", hint="leave out --set step=adaptive")
    return parameters.step != "constant" and not given


def required_k(common: Common) -> int:
    """k, which has no default."""
    if common.k is None or common.k < 1:
        raise UsageError("mission needs --k", hint="--k N: how many features to select")
    return common.k


def checked_depth(depth: int) -> int:
    """An odd depth: a median needs a middle."""
    if depth % 2 == 0:
        raise UsageError(f"sketch_depth={depth} is even", hint="--set sketch_depth=1, 3, 5 or 7")
    return depth

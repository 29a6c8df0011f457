"""boosting: perceptrons that are learned one by one. In: rows. Out: k perceptrons and their weights.

    minimise over w, b   l1 |w|_1 + 1/N sum L(sum_h w_h sign(v_h.x_n + t_h) + b, y_n)

Round      v, t of the perceptron along which the loss falls most, as far as it can be found: the
           logistic loss of the signs of the slopes, each row weighted by its slope's size, stands
           in for the greedy step (24) and gives v; a small ridge keeps it finite. t is then the best
           along v, which costs a sort. It joins, and the problem over all of them is solved again.
k          With --k alone l1 is 1/N at first and smaller after each round that brings no weight more;
           rounds go on until k perceptrons have one, at most 4 k of them; where fewer bring the loss to
           nothing, k are fitted with a ridge of 1/N. With --l1 there are
           `rounds` rounds, then --k trims.
Paper      section 3.3 of the Sparse Random Features paper (2014), whose rival it is; Rosset, Zhu,
           Hastie (JMLR 2004) for boosting as coordinate descent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream._native import FeatureMap, SparseProblem
from fsstream.algorithms.learner import Common, Task, parameter
from fsstream.algorithms.random_features.learner import RandomFeatureLearner
from fsstream.algorithms.random_features.machine import Machine
from fsstream.algorithms.random_features.parameters import ScaleParameters, gap_parameter
from fsstream.algorithms.random_features.scans import Fill
from fsstream.basis import Learned
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.scanning import Scan
    from fsstream.basis import Basis
    from fsstream.state import StateSink

MOST_ROUNDS = 4  # times k
STEP = 1.4  # from one l1 weight to the next
CLOSEST = 1e-9  # tolerance, when little loss is left
GREEDY_RIDGE = 1e-3
GREEDY_TOLERANCE = 1e-5  # where no line parts the slopes the first hundredths of the gap hold the direction
GREEDY_STEPS = 30
LAST_STEPS = 100
REFIT_STEPS = 2000


@dataclass(frozen=True)
class BoostingParameters(ScaleParameters):
    """What `--set` can change."""

    rounds: int = parameter(200, "with --l1: how many perceptrons are learned, one a round", low=1)
    steps: int = parameter(2, "Newton steps in a round, at most", low=1)
    tolerance: float = gap_parameter(0.01, "the last round")


class Boosting(RandomFeatureLearner):
    """Greedy where sparse-rf draws: each round learns the perceptron that is missing most."""

    name: ClassVar[str] = "boosting"
    summary: ClassVar[str] = "boosted perceptrons: learned greedily, one a round; a rival of sparse-rf"
    paper: ClassVar[str] = (
        "Sparse Random Features Algorithm as Coordinate Descent in Hilbert Space (2014), section 3.3"
    )
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l1", "intercept"})
    Parameters: ClassVar[type] = BoostingParameters
    parameters: BoostingParameters

    def __init__(self, common: Common, parameters: BoostingParameters, task: Task) -> None:
        if common.l1 is not None and not common.l1 > 0:
            raise UsageError("--l1 must be above 0")
        self._directions: list[NDArray[np.float32]] = []
        self._offsets: list[float] = []
        self.l1 = common.l1 or 0.0
        super().__init__(common, parameters, task)

    def make_machine(self) -> Machine:
        """Perceptrons are the basis; none is drawn."""
        machine = Machine(
            self.common, self.task.loss, kernel="perceptron", width=0.0, scale=self.parameters.scale
        )
        machine.learned = self._map_of
        return machine

    def rounds(self) -> Iterator[Scan]:
        """Learn one, add it, solve, drop the zeros."""
        machine, asked, k = self.machine, self.parameters, self.common.k
        searched = k if self.common.l1 is None else None
        most = asked.rounds if searched is None else MOST_ROUNDS * searched
        first_l1 = 1.0 / machine.rows.rows
        self.l1 = self.l1 or first_l1
        machine.check_room(k or 1)
        greedy = yield from self._inputs_as_columns()
        while machine.drawn < most and (searched is None or machine.nonzero < searched):
            if not self._learn(greedy):
                break
            before = machine.nonzero
            yield from machine.draw(1)
            tolerance = asked.tolerance
            if searched is not None:
                tolerance = max(tolerance * self.l1 / first_l1, CLOSEST)
            report = machine.solve(self.l1, 0.0, tolerance, asked.steps)
            machine.drop_zeros(at_least=min(searched or 0, machine.drawn))
            self.note_round(report.objective)
            if searched is not None and machine.nonzero <= before:
                self.l1 /= STEP
        if searched is None or not machine.reports:
            machine.solve(self.l1, 0.0, asked.tolerance, LAST_STEPS)
        if k:
            machine.keep_largest(k)
        if searched and machine.nonzero < searched:  # fewer bring the loss to nothing
            machine.solve(0.0, 1.0 / machine.rows.rows, CLOSEST, REFIT_STEPS)

    def _inputs_as_columns(self) -> Generator[Scan, None, SparseProblem]:
        machine, inputs = self.machine, self.machine.basis.inputs
        machine.check_room(len(machine.numbers) + len(inputs) + 1)
        ones = np.ones(machine.rows.rows, np.float32)
        greedy = SparseProblem("logistic", np.ones_like(ones), ones, True, self.common.threads)
        offsets = (-inputs.centres * inputs.inverses).astype(np.float32)
        plain = FeatureMap("plain", np.diag(inputs.inverses).astype(np.float32), offsets)
        yield Fill(greedy, machine.rows, [plain])
        return greedy

    def _learn(self, greedy: SparseProblem) -> bool:
        """The next perceptron; False when no slope is left to learn from."""
        slopes = self.machine.problem.slopes()
        largest = float(np.abs(slopes).max(initial=0.0))
        if largest == 0.0:
            return False
        signs = np.where(slopes > 0, np.float32(-1), np.float32(1))
        greedy.retarget(signs, (np.abs(slopes) / largest).astype(np.float32))
        greedy.solve(0.0, GREEDY_RIDGE, GREEDY_TOLERANCE, GREEDY_STEPS)
        inputs = self.machine.basis.inputs
        direction = greedy.weights * inputs.inverses
        length = float(np.sqrt(np.sum(greedy.weights**2))) or 1.0
        threshold = best_threshold(greedy.decision - greedy.intercept, slopes)
        offset = -threshold - float(np.sum(direction * inputs.centres))
        self._directions.append((direction / length).astype(np.float32))
        self._offsets.append(offset / length)
        return True

    def _learned(self, numbers: NDArray[np.uint64]) -> Learned:
        chosen = numbers.astype(np.int64)
        shape = (len(self._directions), len(self.machine.basis.inputs))
        directions = np.array(self._directions, dtype=np.float32).reshape(shape)
        offsets = np.array(self._offsets, dtype=np.float32)
        return Learned(
            numbers,
            np.zeros(len(numbers), np.uint32),
            np.ascontiguousarray(directions[chosen].T),
            offsets[chosen],
        )

    def _map_of(self, numbers: NDArray[np.uint64]) -> FeatureMap:
        learned = self._learned(numbers)
        return FeatureMap("step", learned.directions, learned.offsets)

    def basis(self) -> Basis | None:
        """With the directions that were learned."""
        found = super().basis()
        return None if found is None else replace(found, learned=self._learned(self.machine.numbers))

    def put_standing(self, out: StateSink) -> None:
        """With the l1 weight, as far as it has come down."""
        super().put_standing(out)
        out.put("l1", np.array([self.l1]))

    def save(self, out: StateSink) -> None:
        """With the directions that had been learned."""
        super().save(out)
        known = int(self._noted["drawn"][0])
        directions = np.stack(self._directions[:known], axis=1) if known else np.zeros((0, 0), np.float32)
        out.put("directions", directions)
        out.put("offsets", np.array(self._offsets[:known], dtype=np.float32))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        self._directions = list(state["directions"].T)
        self._offsets = state["offsets"].tolist()
        self.l1 = float(state["l1"][0])
        super().restore(state)


def best_threshold(projected: NDArray[np.float64], slopes: NDArray[np.float64]) -> float:
    """Where sign(projected - threshold) has the largest |sum of slopes|; between two rows."""
    order = np.argsort(projected, kind="stable")
    along = projected[order]
    below = np.cumsum(slopes[order])
    gain = np.abs(below[-1] - 2 * below[:-1])
    gain[along[:-1] == along[1:]] = -1.0
    if len(gain) == 0 or gain.max() < 0:
        return 0.0
    place = int(gain.argmax())
    return float((along[place] + along[place + 1]) / 2)

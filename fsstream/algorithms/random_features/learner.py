"""What the backends over random features have in common: selection, facts, state.

In: a Machine and the work that drives it. Out: features named `kernel#index`, and the basis that
tells what these names stand for.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream.algorithms.learner import Access, Common, Task
from fsstream.algorithms.random_features.machine import Machine, Standing
from fsstream.algorithms.scanning import Ignore, ScanningLearner
from fsstream.errors import CorruptError
from fsstream.selection import Selection
from fsstream.state import collected
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.random_features.parameters import KernelParameters
    from fsstream.algorithms.scanning import Scan
    from fsstream.basis import Basis
    from fsstream.state import StateSink

REPORTED_INPUTS = 100


class RandomFeatureLearner(ScanningLearner):
    """One problem over the features of one machine."""

    access: ClassVar[Access] = Access.ROWS_AGAIN
    losses: ClassVar[tuple[str, ...]] = ("squared-hinge", "logistic", "squared")
    intercept_default: ClassVar[bool] = True
    merge_refusal: ClassVar[str | None] = (
        "each shard has measured its own inputs, so features of one number are not the same feature"
    )
    state_refusal = merge_refusal
    machine: Machine

    def __init__(self, common: Common, parameters: Any, task: Task) -> None:
        self.common, self.parameters, self.task = common, parameters, task
        self.objectives: list[float] = []
        self.features: list[int] = []  # with a weight, after each round
        self.rows_in_rounds: list[int] = []
        self.finished = False
        self._restart(self._start())

    def _restart(self, work: Iterator[Scan]) -> None:
        self.machine = self.make_machine()
        self._go(work)

    @abstractmethod
    def make_machine(self) -> Machine:
        """With this backend's kernel."""

    @abstractmethod
    def rounds(self) -> Iterator[Scan]:
        """From the first features, or those of a checkpoint, to the last ones."""

    def _start(self) -> Iterator[Scan]:
        yield from self.machine.begin()
        yield from self._finish()

    def _finish(self) -> Iterator[Scan]:
        yield from self.rounds()
        self.machine.drop_zeros()
        self.machine.measure_effects()
        self.finished = True

    def note_round(self, objective: float) -> None:
        """For the summary."""
        self.objectives.append(objective)
        self.features.append(self.machine.nonzero)
        self.rows_in_rounds.append(self.machine.rows_at_work)

    def selection(self) -> Selection:
        """The features with a weight; none before the work is done."""
        if not self.finished:
            return Selection([], np.zeros(0, np.float32))
        machine = self.machine
        names = [machine.basis.name_of(number) for number in machine.numbers.tolist()]
        return Selection(names, machine.problem.weights.astype(np.float32))

    def intercepts(self) -> NDArray[np.float32]:
        """The one intercept."""
        return np.array([self.machine.problem.intercept if self.finished else 0.0], dtype=np.float32)

    def basis(self) -> Basis | None:
        """What the names stand for."""
        return self.machine.basis if self.finished else None

    def facts(self) -> Mapping[str, Any]:
        """The course of the rounds, memory, and the inputs that carry the weight."""
        if not self.finished:
            return {}
        machine, basis = self.machine, self.machine.basis
        last = machine.reports[-1]
        return {
            "kernel": basis.kernel,
            "width": basis.width,
            "reach": basis.reach,
            "drawn": machine.drawn,
            "objectives": self.objectives,
            "features": self.features,
            "rows_in_rounds": self.rows_in_rounds,
            "loss": last.loss,
            "gap": last.gap,
            "steps": sum(report.steps for report in machine.reports),
            "rows_in_memory": machine.rows.all_kept,
            "row_bytes": machine.rows.bytes,
            "most_features_in_memory": machine.capacity,
            "inputs": {to_text(name): effect for name, effect in basis.ranked_inputs()[:REPORTED_INPUTS]},
        }

    def note_standing(self) -> None:
        """The features and their weights; rows and columns are read again."""
        self._noted = collected(self.put_standing)

    def save(self, out: StateSink) -> None:
        """What was noted last."""
        for name, array in self._noted.items():
            out.put(name, array)

    def put_standing(self, out: StateSink) -> None:
        """What is so now."""
        standing = self.machine.standing()
        out.put("numbers", standing.numbers)
        out.put("weights", standing.weights)
        out.put("intercept", np.array([standing.intercept]))
        out.put("rows_at_work", np.array([standing.rows_at_work], dtype=np.uint64))
        out.put("drawn", np.array([self.machine.drawn], dtype=np.uint64))
        out.put("objectives", np.array(self.objectives, dtype=np.float64))
        out.put("features", np.array(self.features, dtype=np.uint64))
        out.put("rows_in_rounds", np.array(self.rows_in_rounds, dtype=np.uint64))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The rest of the interrupted scan is passed over, and a new one asked for."""
        numbers, weights = state["numbers"], state["weights"]
        if len(numbers) != len(weights):
            raise CorruptError("the saved state has not one weight a feature")
        self.objectives = state["objectives"].tolist()
        self.features = [int(count) for count in state["features"]]
        self.rows_in_rounds = [int(count) for count in state["rows_in_rounds"]]
        standing = Standing(numbers, weights, float(state["intercept"][0]), int(state["rows_at_work"][0]))
        self._restart(self._resume(standing, int(state["drawn"][0])))

    def _resume(self, standing: Standing, drawn: int) -> Iterator[Scan]:
        self.machine.go_on_from(standing, drawn)
        yield Ignore()
        yield from self.machine.begin_again(standing)
        yield from self._finish()

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """What it allows itself; the columns take 4 bytes for each row and feature at hand."""
        return {
            "rows in memory, at most": common.memory // 3,
            "columns of features, at most": common.memory - common.memory // 3,
        }


class KernelLearner(RandomFeatureLearner):
    """The features are drawn from a kernel."""

    parameters: KernelParameters

    def make_machine(self) -> Machine:
        """With the kernel asked for."""
        asked = self.parameters
        return Machine(
            self.common,
            self.task.loss,
            kernel=asked.kernel,
            width=asked.width,
            scale=asked.scale,
            thresholds=asked.thresholds,
        )

"""fgm: the Feature Generating Machine. In: rows, scan after scan. Out: k features that work together.

    minimise over d, w, b   1/2 |w|^2 + P(w)   with features scaled by sqrt(d), |d|_1 <= B

as a semi-infinite program: each round adds the d that is violated most and solves what is left
over the features found so far (native/solve/reduced_problem.hpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream.algorithms.fgm.additive import AdditiveMachine
from fsstream.algorithms.fgm.groups import GroupMachine
from fsstream.algorithms.fgm.machine import Machine
from fsstream.algorithms.fgm.parameters import FgmParameters
from fsstream.algorithms.fgm.polynomial import PolynomialMachine
from fsstream.algorithms.fgm.standing import Standing
from fsstream.algorithms.learner import Access, Common, Task
from fsstream.algorithms.scanning import ScanningLearner
from fsstream.errors import UsageError
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from fsstream.expansion import Expansion
    from fsstream.state import StateSink


class Fgm(ScanningLearner):
    """Rounds of worst-case analysis and re-training; the rows are read two times a round, or kept."""

    name = "fgm"
    summary = "Feature Generating Machine: rounds of the most violated features, re-trained together"
    paper = "Towards Ultrahigh Dimensional Feature Selection for Big Data (2014), Algorithms 1 to 5"
    access = Access.ROWS_AGAIN
    losses: ClassVar[tuple[str, ...]] = ("squared-hinge", "logistic", "squared")
    uses: ClassVar[frozenset[str]] = frozenset({"k", "intercept", "groups", "seed"})
    merge_refusal: ClassVar[str | None] = (
        "its features were generated to complement each other on one set of rows"
    )
    state_refusal = merge_refusal
    Parameters = FgmParameters

    def __init__(self, common: Common, parameters: FgmParameters, task: Task) -> None:
        assert common.k is not None
        self._machine = machine_for(common, parameters, task)
        self._go(self._machine.work())

    def selection(self) -> Selection:
        """The k features that were kept, and their weights."""
        machine = self._machine
        kept = [] if machine.kept is None else machine.kept.tolist()
        with np.errstate(over="ignore"):  # infinite weights are told when the model is made
            weights = machine.weights()[kept].astype(np.float32) if kept else np.zeros(0, np.float32)
        nonzero = [place for place, weight in enumerate(weights.tolist()) if weight != 0.0]
        labels = machine.group_labels() if kept else None
        return Selection(
            [machine.names[kept[place]] for place in nonzero],
            weights[nonzero],
            groups=None if labels is None else [labels[place] for place in nonzero],
        )

    def intercepts(self) -> NDArray[np.float32]:
        """-b of the paper's w'x - b."""
        finished = self._machine.kept is not None
        return np.array([-self._machine.problem.bias if finished else 0.0], dtype=np.float32)

    def basis(self) -> Expansion | None:
        return self._machine.expansion()

    def facts(self) -> Mapping[str, Any]:
        """The schedule, the course of the objective, and the bounds of Lemma 1."""
        machine = self._machine
        if machine.plan is None:
            return {}
        return {
            "B": machine.plan.B,
            "C": machine.plan.C,
            "C_of_last_refit": machine.last_C,
            "rounds": len(machine.objectives),
            "generated": machine.generated,
            "rows_in_memory": machine.scores.rows_kept,
            "scores": "exact" if machine.scores.whole else "sketch",
            "objective": machine.objectives,
            "lower_bounds": [lower for lower, _ in machine.bounds],
            "upper_bounds": [upper for _, upper in machine.bounds],
            "inner_iterations": machine.problem.iterations,
            "key_collisions": machine.collisions,
            **machine.more_facts(),
        }

    def remarks(self) -> Iterable[str]:
        return self._machine.remarks()

    def note_standing(self) -> None:
        """The rounds so far; columns and rows are read again."""
        self._noted = self._machine.standing()

    def save(self, out: StateSink) -> None:
        """The rounds when the last scan was asked for."""
        self._noted.save(out)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The rest of the interrupted scan is passed over, and a new one asked for."""
        self._go(self._machine.resume(Standing.restored(state)))

    @classmethod
    def plan(cls, common: Common, parameters: FgmParameters, task: Task) -> dict[str, int]:
        """What fgm allows itself; how much of it is used depends on the rows."""
        return {
            "table of features, at most": common.memory // 4,
            "rows in memory, at most": common.memory // 2,
            "columns of chosen features, at most": common.memory // 4,
        }


def machine_for(common: Common, parameters: FgmParameters, task: Task) -> Machine:
    """The outer loop over single features, or over what the options group or multiply them into."""
    assert common.k is not None
    fixed: dict[str, Any] = {
        "shift": common.intercept,
        "memory": common.memory,
        "seed": common.seed,
        "threads": common.threads,
    }
    _check_expansion(common, parameters)
    if parameters.expand != "none":
        return AdditiveMachine(common.k, task.loss, parameters, **fixed)
    if common.groups is not None or parameters.groups != "none":
        _check_groups(common, parameters)
        return GroupMachine(common.k, task.loss, parameters, table=common.groups, **fixed)
    if parameters.degree == 2:
        return PolynomialMachine(common.k, task.loss, parameters, **fixed)
    return Machine(common.k, task.loss, parameters, **fixed)


def _check_groups(common: Common, parameters: FgmParameters) -> None:
    if parameters.degree == 2:
        raise UsageError("groups and products of features cannot be selected in one run")
    if parameters.groups == "namespace" and common.groups is not None:
        raise UsageError("groups=namespace makes the groups from the names: --groups has no use with it")
    if parameters.groups == "tree" and common.groups is None:
        raise UsageError(
            "groups=tree needs --groups FILE", hint="lines of feature, TAB, group, and groups like a/b/c"
        )


def _check_expansion(common: Common, parameters: FgmParameters) -> None:
    if parameters.expand != "none" and (
        common.groups is not None or parameters.groups != "none" or parameters.degree == 2
    ):
        raise UsageError(
            "expand makes a group of every feature: it cannot be combined with groups or degree=2",
            hint="select the features first, then expand what `fsstream transform` leaves",
        )
    for name, kernel in (("exponent", "histogram"), ("width", "gaussian")):
        value = getattr(parameters, name)
        if value != FgmParameters.__dataclass_fields__[name].default and parameters.expand != kernel:
            raise UsageError(f"{name} is of the {kernel} kernel: give --set expand={kernel} with it")
        if value == 0.0:
            raise UsageError(f"{name} must be above zero")

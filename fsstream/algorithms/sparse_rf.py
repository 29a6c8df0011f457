"""sparse-rf: Sparse Random Features. In: rows. Out: k random features of a kernel, and their weights.

    minimise over w, b   l1 |w|_1 + 1/N sum L(sum_h w_h phi_h(x_n) + b, y_n)   over all features h of a kernel

Rounds     R features are drawn and join those with a weight; the problem over both is solved from
           where it was (native/solve/sparse_problem.hpp); zeros are dropped. A round is ended after
           `steps` Newton steps, the last one by the duality gap.
Rows       Which of the features drawn get a weight is decided on a sample of the rows, as large as the
           features at hand ask for, where that is less than half of all (random_features/machine.py). What
           has a weight then is solved on all rows, from there: with --l1 to the gap, with --k the search
           and the fit below. On 464,810 rows that is a fifth of the time or less.
k          With --k the l1 weight follows the features: rounds leave between k and 1.5 k of them. At the
           end an l1 weight that leaves k, or up to 4 % more, is found along a line through the last two
           (random_features/path.py), the smallest |weight| beyond k go, and the k that stay are fitted
           again with a ridge instead of the l1 weight, because l1 shrinks what it keeps; how large it is
           follows from the noise and the weights (random_features/ridge.py). Where fewer bring the loss to
           nothing, the steepest of the others join that fit. With --l1 nothing is searched; with both it is
           then trimmed.
Paper      Yen, Lin, Lin, Ravikumar, Dhillon: Sparse Random Features Algorithm as Coordinate Descent in
           Hilbert Space, NIPS 2014, Algorithm 1; its lambda_N is N times --l1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream.algorithms.learner import Common, Task, parameter
from fsstream.algorithms.random_features.learner import KernelLearner
from fsstream.algorithms.random_features.parameters import KernelParameters, gap_parameter
from fsstream.algorithms.random_features.path import TO_SEARCH_IN, RegularisationPath
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.scanning import Scan
    from fsstream.state import StateSink

LAST_STEPS = 100
FEWEST_ROWS = 16_384  # of a sample
GROWTH = 2  # of a sample; one of more than half of the rows saves little
LITERAL_STEPS = 100_000  # the gap ends it


@dataclass(frozen=True)
class SparseRfParameters(KernelParameters):
    """What `--set` can change."""

    rule: str = parameter(
        "quick",
        "quick: rounds end early (see steps, round_rows), and the k features are fitted once more; paper: "
        "the method as its paper has it: every round is solved to the tolerance, nothing is fitted again",
        choices=("quick", "paper"),
    )
    draw: int = parameter(500, "how many random features each round draws (R)", low=1)
    rounds: int = parameter(20, "how many rounds (T)", low=1)
    steps: int = parameter(2, "Newton steps in a round, at most", low=1)
    tolerance: float = gap_parameter(0.02, "the last round")
    round_rows: int = parameter(
        16,
        "each round is solved on a sample of the rows, so many for each feature it has; the last fit is on "
        "all rows; 0: every round is on all rows",
        low=0,
    )
    refit: str = parameter(
        "yes",
        "with --k and without --l1: yes: fit the k features once more, with a ridge; no: leave the weights "
        "as l1 made them",
        choices=("yes", "no"),
    )


class SparseRf(KernelLearner):
    """Random features join in rounds, an l1 penalty keeps few of them."""

    name: ClassVar[str] = "sparse-rf"
    summary: ClassVar[str] = "Sparse Random Features: few random features of a kernel, by l1; non-linear"
    paper: ClassVar[str] = (
        "Sparse Random Features Algorithm as Coordinate Descent in Hilbert Space (2014), Algorithm 1"
    )
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l1", "intercept", "seed"})
    Parameters: ClassVar[type] = SparseRfParameters
    parameters: SparseRfParameters

    def __init__(self, common: Common, parameters: SparseRfParameters, task: Task) -> None:
        self.total = parameters.draw * parameters.rounds
        if common.k is not None and common.k > self.total:
            raise UsageError(
                f"--k {common.k} is more than the {self.total} features that are drawn",
                hint="raise --set draw or --set rounds",
            )
        if common.l1 is not None and not common.l1 > 0:
            raise UsageError("--l1 must be above 0", hint="without it nothing is sparse; see --algo rf")
        self.l1 = common.l1 or 0.0  # with --k alone: where the path has come to
        self.largest_l1 = 0.0  # that the path began at
        super().__init__(common, parameters, task)

    def rounds(self) -> Iterator[Scan]:
        """Draw, solve, drop the zeros, until all features have been drawn; in the end on all rows."""
        machine = self.machine
        k = self.common.k if self.common.l1 is None else None
        path = RegularisationPath(machine, k, l1=self.l1, largest=self.largest_l1) if k else None
        if k:
            machine.check_room(2 * k + 1)
        while machine.drawn < self.total:
            count = min(self.parameters.draw, self.total - machine.drawn)
            yield from self._take_rows(count)
            yield from machine.draw(count)
            self._solve_round(path)
        if machine.sampled:
            yield from machine.work_on(0)
        if self.rows_in_rounds and self.rows_in_rounds[-1] < machine.rows.rows:
            self._solve_round(path)
        if path:
            self.l1 = path.reduce(refit=self.parameters.refit == "yes" and not self._literal)
        elif self.common.k:
            machine.keep_largest(self.common.k)

    @property
    def _literal(self) -> bool:
        return self.parameters.rule == "paper"

    def _take_rows(self, drawn: int) -> Iterator[Scan]:
        """Rows enough for the features that the coming round has at hand, while these are not most rows."""
        machine, total = self.machine, self.machine.rows.rows
        each = 0 if self._literal else self.parameters.round_rows
        if not each or (machine.drawn > 0 and not machine.sampled):
            return
        rows = max(each * (len(machine.numbers) + drawn), FEWEST_ROWS)
        if machine.sampled:
            if rows <= machine.rows_at_work:
                return
            rows = max(rows, GROWTH * machine.rows_at_work)
        if rows <= total / GROWTH:
            yield from machine.work_on(rows)
        elif machine.sampled:
            yield from machine.work_on(0)

    def _solve_round(self, path: RegularisationPath | None) -> None:
        machine, asked = self.machine, self.parameters
        each, final = (LITERAL_STEPS,) * 2 if self._literal else (asked.steps, LAST_STEPS)
        if path:
            report = path.follow(each)
            self.l1, self.largest_l1 = path.l1, path.largest
        else:
            last = machine.drawn == self.total and not machine.sampled
            steps = final if last else each
            report = machine.solve(self.l1, 0.0, asked.tolerance, steps, bound=last or self._literal)
        machine.drop_zeros(at_least=self._fewest(path.k if path else None))
        self.note_round(report.objective)

    def _fewest(self, k: int | None) -> int:
        """Features that stay after a round, with a weight or without."""
        if not k:
            return 0
        return k if self.machine.drawn < self.total else math.ceil(TO_SEARCH_IN * k)

    def put_standing(self, out: StateSink) -> None:
        """With the l1 weights of the last round, and before the first."""
        super().put_standing(out)
        out.put("l1", np.array([self.l1, self.largest_l1]))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        self.l1, self.largest_l1 = map(float, state["l1"])
        super().restore(state)

    def facts(self) -> Mapping[str, Any]:
        """With the l1 weight that was found."""
        found = super().facts()
        return {**found, "l1": self.l1} if found else found

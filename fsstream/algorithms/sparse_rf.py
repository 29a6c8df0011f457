"""sparse-rf: Sparse Random Features. In: rows. Out: k random features of a kernel, and their weights.

    minimise over w, b   l1 |w|_1 + 1/N sum L(sum_h w_h phi_h(x_n) + b, y_n)   over all features h of a kernel

Rounds     R features are drawn and join those with a weight; the problem over both is solved from
           where it was (native/solve/sparse_problem.hpp); zeros are dropped. A round is ended after
           `steps` Newton steps, the last one by the duality gap.
k          With --k the l1 weight follows the features: rounds leave between k and 1.5 k of them. At the
           end an l1 weight that leaves k, or up to 4 % more, is found along a line through the last two
           (random_features/path.py), the smallest |weight| beyond k go, and the k that stay are fitted
           again with a ridge of 10/N instead of the l1 weight, because l1 shrinks what it keeps. Where
           fewer bring the loss to nothing, the steepest of the others join that fit. With --l1 nothing
           is searched; with both it is then trimmed.
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
from fsstream.algorithms.random_features.parameters import KernelParameters
from fsstream.algorithms.random_features.path import TO_SEARCH_IN, RegularisationPath
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.scanning import Scan
    from fsstream.state import StateSink

LAST_STEPS = 100
LITERAL_STEPS = 100_000  # the gap ends it


@dataclass(frozen=True)
class SparseRfParameters(KernelParameters):
    """What `--set` can change."""

    rule: str = parameter(
        "quick",
        "quick: rounds end after some steps, k features are fitted again; "
        "paper: the literal method, every round is solved to the tolerance, nothing is fitted again",
        choices=("quick", "paper"),
    )
    draw: int = parameter(500, "features drawn a round (R)", low=1)
    rounds: int = parameter(20, "rounds (T)", low=1)
    steps: int = parameter(2, "Newton steps a round, at most", low=1)
    tolerance: float = parameter(
        0.02,
        "the last round ends at this duality gap, a share of the loss without features",
        low=0.0,
        high=1.0,
    )
    refit: str = parameter(
        "yes", "with --k alone: fit the k features again, with a ridge", choices=("yes", "no")
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
        super().__init__(common, parameters, task)

    def rounds(self) -> Iterator[Scan]:
        """Draw, solve, drop the zeros, until all features have been drawn."""
        machine, asked = self.machine, self.parameters
        k = self.common.k if self.common.l1 is None else None
        literal = asked.rule == "paper"
        each, final = (LITERAL_STEPS,) * 2 if literal else (asked.steps, LAST_STEPS)
        path = RegularisationPath(machine, k, self.l1) if k else None
        if k:
            machine.check_room(2 * k + 1)
        while machine.drawn < self.total:
            yield from machine.draw(min(asked.draw, self.total - machine.drawn))
            if path:
                report = path.follow(each)
                self.l1 = path.l1
            else:
                last = machine.drawn == self.total
                steps = final if last else each
                report = machine.solve(self.l1, 0.0, asked.tolerance, steps, bound=last or literal)
            machine.drop_zeros(at_least=self._fewest(k))
            self.note_round(report.objective)
        if path:
            self.l1 = path.reduce(refit=asked.refit == "yes" and not literal)
        elif self.common.k:
            machine.keep_largest(self.common.k)

    def _fewest(self, k: int | None) -> int:
        """Features that stay after a round, with a weight or without."""
        if not k:
            return 0
        return k if self.machine.drawn < self.total else math.ceil(TO_SEARCH_IN * k)

    def save(self, out: StateSink) -> None:
        """With the l1 weight of the last round."""
        super().save(out)
        out.put("l1", np.array([self.l1]))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        self.l1 = float(state["l1"][0])
        super().restore(state)

    def facts(self) -> Mapping[str, Any]:
        """With the l1 weight that was found."""
        found = super().facts()
        return {**found, "l1": self.l1} if found else found

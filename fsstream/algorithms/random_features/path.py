"""The l1 weight that leaves k features: followed while features are drawn, then found.

In: a Machine whose problem is warm. Out: exactly k features with a weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fsstream._native import SolveReport
    from fsstream.algorithms.random_features.machine import Machine

MOST_IN_ROUNDS = 2.0  # times k
TRIES = 12  # in a round
STEPS = 40  # of the search at the end
STEP = 1.4
SMALLEST = 1e-9  # of the l1 weight that leaves nothing
CLOSE = 1.002
SEARCH_STEPS = 20
REFIT_RIDGE = 10.0  # over N
REFIT_TOLERANCE = 1e-4
REFIT_STEPS = 2000


class RegularisationPath:
    """l1 weights for k; warm starts from one to the next."""

    def __init__(self, machine: Machine, k: int, tolerance: float, l1: float) -> None:
        self._machine = machine
        self._k = k
        self._tolerance = tolerance
        self.l1 = l1  # 0: not known yet

    def follow(self, steps: int) -> SolveReport:
        """Solve with the l1 weight of the last round, or a step or more away when k asks for it."""
        machine = self._machine
        largest = machine.largest_gradient()
        if self.l1 == 0.0:
            self.l1 = largest / 10
        enough = None
        for _ in range(TRIES):
            report = self._solve(self.l1, steps)
            count = machine.nonzero
            if count >= self._k:
                enough = (machine.problem.weights, machine.problem.intercept)
            if count < self._k and self.l1 > SMALLEST * largest:
                self.l1 /= STEP
            elif count > MOST_IN_ROUNDS * self._k:
                self.l1 *= STEP
            else:
                break
        if machine.nonzero < self._k and enough is not None:  # a step led from too many to too few
            machine.problem.start_from(*enough)
        return report

    def _solve(self, l1: float, steps: int) -> SolveReport:
        report = self._machine.solve(l1, 0.0, self._tolerance, steps)
        if report.steps == 0 and self._machine.nonzero < self._k:
            # Where little loss is left, any point is near the optimum: only a closer look brings features.
            self._tolerance = max(self._tolerance / 10, SMALLEST)
        return report

    def reduce(self, *, refit: bool) -> float:
        """To exactly k; returns the l1 weight that was found."""
        machine = self._machine
        found, weights, intercept = self._search()
        machine.problem.start_from(weights, intercept)
        machine.keep_largest(self._k)
        if refit:
            machine.solve(0.0, REFIT_RIDGE / machine.rows.rows, REFIT_TOLERANCE, REFIT_STEPS)
        return found

    def _search(self) -> tuple[float, NDArray[np.float64], float]:
        """The largest l1 weight that leaves k features or more, and its solution."""
        machine, problem = self._machine, self._machine.problem
        enough: tuple[float, NDArray[np.float64], float] | None = None
        best = (self.l1, problem.weights, problem.intercept)
        too_large = math.inf
        l1 = self.l1
        for _ in range(STEPS):
            self._solve(l1, SEARCH_STEPS)
            count = machine.nonzero
            if count >= self._k:
                enough = best = (l1, problem.weights, problem.intercept)
                if count == self._k:
                    break
            else:
                too_large = l1
            if enough is None:
                l1 /= STEP
            elif math.isinf(too_large):
                l1 *= STEP
            elif too_large < CLOSE * enough[0]:
                break
            else:
                l1 = math.sqrt(enough[0] * too_large)
        return best

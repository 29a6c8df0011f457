"""The l1 weight that leaves k features: followed while features are drawn, then found.

In: a Machine whose problem is warm. Out: exactly k features with a weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsstream.algorithms.random_features.ridge import ridge_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream._native import SolveReport
    from fsstream.algorithms.random_features.machine import Machine

MOST_IN_ROUNDS = 1.5  # times k
SHARE_IN_ROUNDS = 0.5  # of the features drawn so far: more are not wanted of the first ones
TRIES = 3  # in a round
TO_SEARCH_IN = 1.2  # times k: the features that are left for the search, at least
STEPS = 20  # of the search at the end
STEP = 3.0  # at most, from one l1 weight to the next
SMALLEST_STEP = 1.05
SMALLEST = 1e-9  # of the l1 weight that leaves nothing
SPARE = 0.04  # the search ends with so many features more than k, a share, and the smallest go
MARGIN = 0.1  # of the bracket, that a guess keeps from its ends
CLOSE = 1.002
SEARCH_STEPS = 2  # all of them are taken: a loose end would keep the count where it is
REFIT_TOLERANCE = 3e-4
REFIT_STEPS = 2000


class Point(NamedTuple):
    """What an l1 weight leaves."""

    l1: float
    left: int


class RegularisationPath:
    """l1 weights for k; warm starts from one to the next."""

    def __init__(self, machine: Machine, k: int, *, l1: float, largest: float) -> None:
        self._machine = machine
        self.k = k
        self.l1 = l1  # 0: not known yet
        self.largest = largest  # the one that leaves nothing, of the first features

    def follow(self, steps: int) -> SolveReport:
        """Solve with the l1 weight of the last round, and a few others when k asks for it."""
        machine = self._machine
        most = MOST_IN_ROUNDS * self.k
        fewest = min(self.k, SHARE_IN_ROUNDS * machine.drawn)
        if self.l1 == 0.0:
            self.largest = machine.largest_gradient()
            self.l1 = self.largest / 10
        enough = None
        for _ in range(TRIES):
            report = machine.solve(self.l1, 0.0, 0.0, steps, bound=False)
            count = machine.nonzero
            if count >= self.k:
                enough = (machine.problem.weights, machine.problem.intercept)
            if fewest <= count <= most or (count < fewest and self.l1 <= SMALLEST * self.largest):
                break
            self.l1 *= _limited(count / math.sqrt(fewest * most))
        if machine.nonzero < self.k and enough is not None:  # a step led from too many to too few
            machine.problem.start_from(*enough)
        return report

    def reduce(self, *, refit: bool) -> float:
        """To exactly k; returns the l1 weight that was found."""
        machine = self._machine
        found, weights, intercept = self._search()
        machine.problem.start_from(weights, intercept)
        machine.keep_largest(self.k)
        if refit:
            importance = machine.rows.importance.astype(np.float64)
            problem = machine.problem
            ridge = ridge_for(
                problem.weights, problem.slopes(), problem.curvatures(), importance / importance.sum()
            )
            machine.solve(0.0, ridge / machine.rows.rows, REFIT_TOLERANCE, REFIT_STEPS)
        return found

    def _search(self) -> tuple[float, NDArray[np.float64], float]:
        """An l1 weight that leaves k features or few more, and its solution: a line through the last
        points, in logarithms, says where to look next."""
        machine, problem = self._machine, self._machine.problem
        best = (self.l1, problem.weights, problem.intercept)
        wanted = self.k * (1 + SPARE / 2)
        many: Point | None = None  # the largest l1 weight that leaves k or more
        few: Point | None = None
        l1 = self.l1
        for _ in range(STEPS):
            machine.solve(l1, 0.0, 0.0, SEARCH_STEPS, bound=False)
            count = machine.nonzero
            if count >= self.k:
                many, best = Point(l1, count), (l1, problem.weights, problem.intercept)
                if count <= self.k * (1 + SPARE):
                    break
            else:
                few = Point(l1, count)
            if many and few:
                if few.l1 < CLOSE * many.l1:
                    break
                l1 = _between(many, few, wanted)
            else:
                l1 *= _limited(count / wanted)
        return best


def _limited(factor: float) -> float:
    """A step of the l1 weight: neither too far nor too short to matter."""
    if factor >= 1:
        return min(max(factor, SMALLEST_STEP), STEP)
    return 1 / _limited(1 / max(factor, 1 / STEP))


def _between(many: Point, few: Point, wanted: float) -> float:
    """Where a line through both has as many as are wanted, away from either end."""
    slope = math.log(many.left / max(few.left, 1))
    share = math.log(many.left / wanted) / slope
    share = min(max(share, MARGIN), 1 - MARGIN)
    return many.l1 * math.pow(few.l1 / many.l1, share)

"""The features chosen so far and the reduced problem (30) over them.

In: columns, round by round. Out: weights, a shift, residuals r = alpha y for the next worst case.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fsstream._native import ProximalOptions, fgm_conjugate, fgm_residuals, solve_reduced
from fsstream.algorithms.row_draws import draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fsstream._native import ColumnCache

TRIM_TOLERANCE = 1e-4
REFIT_TOLERANCE = 1e-6
MOST_ITERATIONS = 10_000
HELD_OUT = 5  # rows of which one is held out, while C is chosen
LEAST_GAIN = 0.01  # of the loss, where C is only tried: what is less may be chance
MOST_SCALE, SCALE_STEPS = 256.0, 24
FALLING = (1.0, 1 / 4, 1 / 16, 1 / 64)  # of C, one after the other
GROWING = (1.0, 4.0, 16.0, 64.0)
TRIED = (*GROWING, 256.0)


class ReducedProblem:
    """Groups of columns, one a round; solving starts where the last solve ended."""

    def __init__(
        self,
        columns: ColumnCache,
        loss: str,
        targets: NDArray[np.float64],
        costs: NDArray[np.float64],
        *,
        shift: bool,
        tolerance: float,
        literal: bool,
        cached_products: bool,
        seed: int,
    ) -> None:
        self.columns = columns
        self._loss = loss
        self._targets = targets
        self._all_costs = self._costs = costs
        self._shift = shift
        self._tolerance = tolerance
        self._literal = literal
        self._cached = cached_products
        self._seed = seed
        self.groups: list[NDArray[np.uint32]] = []
        self.weights = np.zeros(0)
        self.bias = 0.0
        self.tau = 0.0
        self.objective = 0.0
        self.norm = 0.0
        self.iterations = 0
        self.decision = np.zeros(len(targets))

    @property
    def costs(self) -> NDArray[np.float64]:
        """C of each row, zero where it is held out."""
        return self._costs

    def hold_out(self) -> None:
        """Learn from four fifths of the rows; the others tell which C is best."""
        self._costs = np.where(self._held, 0.0, self._all_costs)

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        """One row of each five in a row, drawn: whatever repeats among rows is on both sides."""
        fives = len(self._all_costs) // HELD_OUT
        held = np.zeros(len(self._all_costs), np.bool_)
        places = draws(self._seed, 0, 0, fives) % np.uint64(HELD_OUT)
        held[HELD_OUT * np.arange(fives, dtype=np.uint64) + places] = True
        return held

    def add_group(self, columns: NDArray[np.uint32]) -> None:
        """The features of a new round, at weight zero."""
        self.groups.append(columns)
        self.weights = np.concatenate([self.weights, np.zeros(len(columns))])

    @property
    def members(self) -> NDArray[np.uint32]:
        """All columns, round after round."""
        return np.concatenate([np.zeros(0, np.uint32), *self.groups])

    def start_from(self, weights: NDArray[np.float64], bias: float, tau: float) -> None:
        """Takes over a solution and its decision values."""
        self.weights, self.bias = weights, bias
        self.solve(iterations=0)
        self.tau = tau

    def solve(self, tolerance: float | None = None, iterations: int = MOST_ITERATIONS) -> None:
        """Minimise over w and b from where they are."""
        options = ProximalOptions(
            tolerance=self._tolerance if tolerance is None else tolerance,
            iterations=iterations,
            shift=self._shift,
            restart=not self._literal,
            cached_products=self._cached,
        )
        starts = np.cumsum([0, *map(len, self.groups)], dtype=np.uint64)
        found = solve_reduced(
            self.columns,
            self._loss,
            self._targets,
            self._costs,
            starts,
            self.members,
            self.weights,
            self.bias,
            self.tau,
            options,
        )
        self.weights, self.bias, self.tau = found.weights, found.bias, found.tau
        self.objective, self.norm, self.decision = found.objective, found.norm, found.decision
        self.iterations += found.iterations

    @property
    def residuals(self) -> NDArray[np.float64]:
        """r_i = alpha_i y_i at the current weights."""
        return fgm_residuals(self._loss, self._targets, self._costs, self.decision)

    def upper_bound(self, squares: float) -> float:
        """f(alpha, d) for the d whose sum of c_j^2 is given: phi_t of Lemma 1."""
        return 0.5 * squares + fgm_conjugate(self._loss, self._targets, self._costs, self.residuals)

    def merge(self, columns: NDArray[np.uint32]) -> None:
        """Only these columns go on, as one group: the regulariser becomes 1/2 |w|^2."""
        total = np.zeros(self.columns.columns)
        np.add.at(total, self.members, self.weights)
        dropped = np.setdiff1d(self.members, columns)
        self.groups = [columns]
        self.weights = total[columns]
        for column in dropped.tolist():
            self.columns.drop(column)

    def refit(self, columns: NDArray[np.uint32], *, last: bool) -> None:
        """Least loss with 1/2 |w|^2 on these columns."""
        self.merge(columns)
        self.solve(REFIT_TOLERANCE if last else TRIM_TOLERANCE)

    def settle_cost(self, *, may_grow: bool) -> float:
        """What C is multiplied by: it falls, or else may grow, while what it makes of four fifths of the rows
        loses less on the others."""
        factor = self._move_cost(FALLING, self._loss_by)
        return self._move_cost(GROWING, self._loss_by) if may_grow and factor == 1.0 else factor

    def try_costs(self, most: float) -> float:
        """What C is to be multiplied by, at most: it grows while weights, scaled as is best, lose less on the
        rows held out. A larger C makes weights longer, which says nothing of what they point at."""
        factors = [factor for factor in TRIED if factor <= most]
        return self._move_cost(factors, self._least_loss_by, LEAST_GAIN)

    def _move_cost(
        self,
        factors: Sequence[float],
        measure: Callable[[NDArray[np.float64]], float],
        gain: float = 0.0,
    ) -> float:
        start = (self.weights, self.bias, self.tau)
        self.weights, self.bias, self.tau = np.zeros(len(self.weights)), 0.0, 0.0
        best, least = 1.0, np.inf
        for factor in factors:
            self.hold_out()
            self._costs = factor * self._costs
            self.solve(TRIM_TOLERANCE)
            loss = measure(np.where(self._held, self._all_costs, 0.0))
            if loss >= (1 - gain) * least:
                break
            best, least = factor, loss
        self._costs = best * self._all_costs
        self.weights, self.bias, self.tau = start
        return best

    def _loss_by(self, costs: NDArray[np.float64]) -> float:
        """The loss of the weights as they are when rows cost this much."""
        self._costs, tau = costs, self.tau
        self.solve(iterations=0)
        self.tau = tau
        return self.objective - 0.5 * self.norm**2

    def _least_loss_by(self, costs: NDArray[np.float64]) -> float:
        """The same at the best of all scales of the weights: r.u falls as u grows, and is zero there."""
        low, high = 1.0 / MOST_SCALE, MOST_SCALE
        for _ in range(SCALE_STEPS):
            scale = math.sqrt(low * high)
            r = fgm_residuals(self._loss, self._targets, costs, scale * self.decision)
            low, high = (scale, high) if np.dot(r, self.decision) > 0 else (low, scale)
        weights, bias = self.weights, self.bias
        self.weights, self.bias = low * weights, low * bias
        loss = self._loss_by(costs)
        self.weights, self.bias = weights, bias
        return loss

    def by_column(self) -> NDArray[np.float64]:
        """The weight of every column, summed over the rounds that hold it."""
        total = np.zeros(self.columns.columns)
        np.add.at(total, self.members, self.weights)
        return total

    def contributions(self, columns: NDArray[np.uint32]) -> NDArray[np.float64]:
        """|w_j| |x_j|, what a column moves the decision values by; by column, zero for others."""
        squares = self.columns.square_sums(columns, np.ones(len(self._targets)))
        moved = np.zeros(self.columns.columns)
        moved[columns] = np.abs(self.by_column()[columns]) * np.sqrt(squares)
        return moved

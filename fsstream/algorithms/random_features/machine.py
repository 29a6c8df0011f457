"""Rows, basis, and the problem over the features at hand.

The rows are scanned once and kept while they fit; features are then computed from memory. What
does not fit is read again for each group of new features. The problem is over all rows or over a
sample of them, which the numbers of rows alone decide. Memory: the rows (at most a third),
some vectors of one number a row, and 4 bytes for each row and feature at hand.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsstream._native import FeatureMap, InputRows, SolveReport, SparseProblem, spread_rows
from fsstream.algorithms.random_features.inputs import (
    anchors_of,
    inputs_of,
    median_distance,
    sample_of,
    scaled,
)
from fsstream.algorithms.random_features.scans import ALL_ROWS, Fill, Load
from fsstream.basis import Basis
from fsstream.errors import FsstreamError, LimitError
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fsstream.algorithms.learner import Common
    from fsstream.algorithms.scanning import Scan

FEATURES_AT_ONCE = 128  # computed side by side: their directions stay in the cache
DIRECTION = 12  # bytes for an input and a feature: drawn, in the map, and in the map before it
REACH_SAMPLE = 64
REACH_AT_ONCE = 8  # directions, where there are many inputs
MANY_INPUTS = 1 << 16
INPUT = 384  # bytes: name, statistics, scale, two sampled rows, and some directions
LARGEST_EFFECT_WORK = 1_000_000_000
EFFECT_ROWS = 500


def _pieces(numbers: NDArray[np.uint64], size: int) -> list[NDArray[np.uint64]]:
    size = max(size, 1)
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


class Standing(NamedTuple):
    """What a run goes on from."""

    numbers: NDArray[np.uint64]
    weights: NDArray[np.float64]
    intercept: float
    rows_at_work: int  # 0: all


class Machine:
    """The features at hand are known by number; their weights are the problem's."""

    def __init__(
        self, common: Common, loss: str, *, kernel: str, width: float, scale: str, thresholds: str = "uniform"
    ) -> None:
        self._common = common
        self._loss = loss
        self._kernel, self._width, self._scale = kernel, width, scale
        self._thresholds = thresholds  # of perceptrons
        self.rows = InputRows(common.memory // 3, scale == "log")
        self.numbers = np.zeros(0, np.uint64)
        self.drawn = 0
        self.reports: list[SolveReport] = []
        self._chosen = ALL_ROWS
        self._standing: Standing | None = None  # while its columns are being filled
        self.learned: Callable[[NDArray[np.uint64]], FeatureMap] | None = None  # features that are not drawn

    def begin(self) -> Iterator[Scan]:
        """The first scan, and what follows from it."""
        yield Load(self.rows)
        left = self._check_inputs()
        inputs = inputs_of(self.rows, self._scale)
        self._sample = sample_of(self.rows, left)
        anchors = anchors_of(self.rows) if self._thresholds == "data" else None
        points = scaled(self._sample, inputs)
        # The exponent of the Gaussian has the square of the distance halved.
        width = self._width or median_distance(points, self._kernel)
        self.basis = Basis(self._kernel, self._common.seed, width, 1.0, inputs)
        if self._kernel == "perceptron":
            self.basis = dataclasses.replace(self.basis, reach=self._reach(), anchors=anchors)
        self._open(0)

    def _check_inputs(self) -> int:
        """Bytes left for a sample of the rows; LimitError where not even the inputs fit."""
        needed = self.rows.bytes + INPUT * self.rows.inputs
        if needed > self._common.memory:
            raise LimitError(
                f"{self.rows.inputs:,} inputs on {self.rows.rows:,} rows need {show_size(needed)}, "
                f"and --memory is {show_size(self._common.memory)}",
                hint="raise --memory, or drop inputs: --keep, --ignore",
            )
        return self._common.memory - needed

    def _open(self, rows_at_work: int) -> None:
        """A problem without columns, over so many rows; 0: all."""
        rows = self.rows
        self._chosen = spread_rows(rows.rows, rows_at_work) if rows_at_work else ALL_ROWS
        targets, importance = (
            column[self._chosen] if rows_at_work else column for column in (rows.targets, rows.importance)
        )
        self.problem = SparseProblem(
            self._loss, targets, importance, self._common.intercept, self._common.threads
        )

    @property
    def rows_at_work(self) -> int:
        """Rows that the problem is over."""
        return len(self._chosen) or self.rows.rows

    @property
    def sampled(self) -> bool:
        """Whether these are not all rows."""
        return len(self._chosen) > 0

    def standing(self) -> Standing:
        """Features whose columns are full, with their weights; those beyond are filled again."""
        if self._standing:
            return self._standing
        if not hasattr(self, "problem"):
            return Standing(self.numbers, np.zeros(0), 0.0, 0)
        weights = self.problem.weights[: len(self.numbers)]
        return Standing(self.numbers, weights, self.problem.intercept, len(self._chosen))

    def go_on_from(self, standing: Standing, drawn: int) -> None:
        """What an interrupted run came to; `begin_again` comes next."""
        self._standing, self.drawn = standing, drawn

    def begin_again(self, standing: Standing) -> Iterator[Scan]:
        """The first scan, and the columns of the interrupted run."""
        yield from self.begin()
        yield from self._stand(standing)

    def work_on(self, rows: int) -> Iterator[Scan]:
        """So many rows from now on, 0: all; the same features and weights."""
        self._standing = self.standing()._replace(rows_at_work=rows)
        yield from self._stand(self._standing)

    def _stand(self, standing: Standing) -> Iterator[Scan]:
        self._open(standing.rows_at_work)
        self.numbers = np.zeros(0, np.uint64)
        yield from self.add(standing.numbers)
        if len(standing.numbers):
            self.problem.start_from(standing.weights, standing.intercept)
        self._standing = None

    def _reach(self) -> float:
        """The largest projection of a sampled row on drawn directions: no threshold lies beyond all data."""
        largest, inputs = 0.0, self.basis.inputs
        at_once = REACH_SAMPLE if len(inputs) <= MANY_INPUTS else REACH_AT_ONCE
        for numbers in _pieces(np.arange(REACH_SAMPLE, dtype=np.uint64), at_once):
            directions, _ = self.basis.draw(numbers)
            with np.errstate(over="ignore", invalid="ignore"):
                centre = np.array(inputs.centres @ directions)
                plain = FeatureMap("plain", directions, np.zeros(len(numbers), np.float32))
                reached = np.abs(plain.of(self._sample) - centre).max(initial=0.0)
            largest = float(np.maximum(largest, reached))
        if not np.isfinite(largest):
            raise FsstreamError(
                "the projections of the rows leave the range of 32-bit numbers",
                hint="scale the features' values: they are tiny, or huge",
            )
        return float(f"{largest:.4g}") or 1.0

    def map_of(self, numbers: NDArray[np.uint64]) -> FeatureMap:
        """What computes features by number."""
        return self.learned(numbers) if self.learned else self.basis.map_of(numbers)

    @property
    def capacity(self) -> int:
        """How many features fit the memory at once."""
        rows, left = self.rows.rows, self._common.memory - self.rows.bytes
        too_many = left // max(rows, 1) + 1  # a column takes 4 bytes a row, and more
        fits = bisect_right(range(too_many + 1), left, key=lambda count: SparseProblem.bytes_for(rows, count))
        return max(0, fits - 1)

    def check_room(self, features: int) -> None:
        """That so many features fit, before work is spent on them."""
        if features > self.capacity:
            needed = self.rows.bytes + SparseProblem.bytes_for(self.rows.rows, features)
            raise LimitError(
                f"{features} features at once on {self.rows.rows} rows need {show_size(needed)}, "
                f"and --memory is {show_size(self._common.memory)}",
                hint="raise --memory, lower --k or --set draw, or raise --l1",
            )

    def draw(self, count: int) -> Iterator[Scan]:
        """The next random features join at weight 0, fewer of them when memory says so."""
        count = min(count, self.capacity - len(self.numbers))
        self.check_room(len(self.numbers) + max(count, 1))
        yield from self.add(np.arange(self.drawn, self.drawn + count, dtype=np.uint64))
        self.drawn += count

    def mapped_at_once(self, columns: int) -> int:
        """Of how many features the directions fit the memory that so many columns leave."""
        used = self.rows.bytes + SparseProblem.bytes_for(self.rows.rows, columns)
        one = DIRECTION * max(len(self.basis.inputs), 1)
        return max(self._common.memory - used, 0) // one

    def add(self, numbers: NDArray[np.uint64]) -> Iterator[Scan]:
        """Features by number join at weight 0, some at a time where there are many inputs."""
        room = self.mapped_at_once(len(self.numbers) + len(numbers))
        a_scan = room if not self.rows.all_kept else min(room, FEATURES_AT_ONCE)
        for part in _pieces(numbers, a_scan):
            maps = [self.map_of(group) for group in _pieces(part, FEATURES_AT_ONCE)]
            yield Fill(self.problem, self.rows, maps, self._chosen)
        self.numbers = np.concatenate([self.numbers, numbers])

    def solve(self, l1: float, l2: float, tolerance: float, steps: int, *, bound: bool = True) -> SolveReport:
        """Minimise over the weights of the features at hand; without `bound` the gap is left open when
        the steps are used up."""
        report = self.problem.solve(l1, l2, tolerance, steps, bound)
        self.reports.append(report)
        return report

    def largest_gradient(self) -> float:
        """The l1 weight from which on all weights at hand are zero."""
        return float(np.abs(self.problem.gradients()).max(initial=0.0))

    @property
    def nonzero(self) -> int:
        """How many features have a weight."""
        return int(np.count_nonzero(self.problem.weights))

    def keep(self, places: NDArray[np.int64]) -> None:
        """Let go of all other features."""
        self.problem.keep(places.astype(np.uint32))
        self.numbers = self.numbers[places]

    def drop_zeros(self, at_least: int = 0) -> None:
        """Step 4 of the algorithm, but for so many that stay; what rounding left in the decision values
        goes, too, as after a resume."""
        if self.nonzero >= at_least:
            self.keep(np.flatnonzero(self.problem.weights))
        else:
            self.keep_largest(at_least)
        self.problem.start_from(self.problem.weights, self.problem.intercept)

    def keep_largest(self, k: int) -> None:
        """The k largest |weight|; of those without one the steepest; ties: the smaller number."""
        size = np.abs(self.problem.weights)
        slope = np.abs(self.problem.gradients()) if self.nonzero < k else np.zeros(len(size))
        self.keep(np.sort(np.lexsort((self.numbers, -slope, -size))[:k]))

    def measure_effects(self) -> None:
        """What each input moves the score by, on a sample of the rows; not where memory is too small."""
        if len(self.numbers) > self.mapped_at_once(len(self.numbers)):
            return
        features = self.map_of(self.numbers)
        work = max(1, len(self.basis.inputs) * features.features)
        rows = self._sample[: max(2, min(EFFECT_ROWS, LARGEST_EFFECT_WORK // work))]
        effects = features.effects(self.problem.weights.astype(np.float32), rows)
        self.basis = dataclasses.replace(self.basis, effects=effects)

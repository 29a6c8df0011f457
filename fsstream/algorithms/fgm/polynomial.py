"""Degree 2: squares and products are features too, none of them is ever written down (section 6.2).

    phi(x) = [ sqrt(2 gamma r) x_i,  gamma x_i^2,  sqrt(2) gamma x_i x_j ],  r = 1

The constant of the paper's map is left out: it is what the shift is for. Weights are reported for the
products as they are, with the factor of the map multiplied in. The worst case is exact
(native/solve/pair_scores.hpp) and takes up to three passes a round when rows are not in memory:
bounds, sums, and sums again when the first set was too small; then one for the columns. When not even
the table of features fits, bounds and c are sketched, and one pass more lists what either may put first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import PairCollector, PairScores
from fsstream.algorithms.fgm.machine import Machine
from fsstream.algorithms.fgm.scans import Collect, CollectCandidates, KeptScan, Name
from fsstream.pairs import pair_name, single_name

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from fsstream._native import Batch, ColumnCache, FeatureScores
    from fsstream.algorithms.scanning import Scan

FIRST_SET = 256  # features whose products are summed at first
SINGLE, PRODUCT = 0, 1


class Bounds(KeptScan):
    """A_i of every feature."""

    def __init__(self, scores: FeatureScores, pairs: PairScores) -> None:
        super().__init__(scores)
        self._pairs = pairs

    def see(self, batch: Batch, first_row: int) -> None:
        self._pairs.bound(batch, first_row)

    def see_kept(self) -> None:
        self._pairs.bound_kept()


class Shortlist(CollectCandidates):
    """Where both are sketched: the features of largest A, and those of largest c, scored exactly."""

    def __init__(
        self, scores: FeatureScores, pairs: PairScores, count: int, limit: int, without: NDArray[np.uint64]
    ) -> None:
        super().__init__(scores, count, limit, without)
        self._pairs = pairs

    def see(self, batch: Batch, first_row: int) -> None:
        super().see(batch, first_row)
        self._pairs.shortlist(batch)


class Sums(KeptScan):
    """c of the products within a set of features."""

    def __init__(self, scores: FeatureScores, pairs: PairScores, count: int) -> None:
        super().__init__(scores)
        self._pairs = pairs
        pairs.start_sums(count)

    def see(self, batch: Batch, first_row: int) -> None:
        self._pairs.sum(batch, first_row)

    def see_kept(self) -> None:
        self._pairs.sum_kept()


class CollectPairs(KeptScan):
    """The columns of chosen products."""

    def __init__(
        self,
        scores: FeatureScores,
        cache: ColumnCache,
        pairs: NDArray[np.uint64],
        factors: tuple[float, float],
    ) -> None:
        super().__init__(scores)
        self._collector = PairCollector(cache, pairs, *factors)

    def see(self, batch: Batch, first_row: int) -> None:
        self._collector.add(batch, first_row)

    def see_kept(self) -> None:
        self._collector.add_kept(self._scores)
        self._collector.finish()

    def finish(self) -> None:
        super().finish()
        self._collector.finish()


class PolynomialMachine(Machine):
    """Every column is a single feature or a product of two: an id is (kind, key, key)."""

    tries_costs = False

    def __init__(self, *fixed: Any, **options: Any) -> None:
        super().__init__(*fixed, **options)
        gamma = self._parameters.gamma
        self._single_factor = math.sqrt(2 * gamma)
        self._cross_factor, self._square_factor = math.sqrt(2) * gamma, gamma
        self._ids: list[tuple[int, int, int]] = []  # by column
        self._column: dict[tuple[int, int, int], int] = {}
        self.sets: list[int] = []  # how many features' products were summed, round by round

    def _mean_square(self) -> float:
        """|phi(x)|^2 of a row of mean length, the constant left out."""
        gamma = self._parameters.gamma
        return (gamma * super()._mean_square() + 1.0) ** 2 - 1.0

    @property
    def generated(self) -> int:
        """Columns so far."""
        return len(self._ids)

    def _worst_case(self, wanted: int) -> Generator[Scan, None, NDArray[np.uint64]]:
        assert self.plan is not None
        factors = self._cross_factor, self._square_factor
        pairs = PairScores(self.scores, self.current_residuals(), *factors, self._memory // 4)
        yield Bounds(self.scores, pairs)
        singles = np.array([a for kind, a, _ in self._ids if kind == SINGLE], dtype=np.uint64)
        products = np.array(
            [key for kind, *ab in self._ids if kind == PRODUCT for key in ab], dtype=np.uint64
        )
        keys, c = yield from self._best_singles(pairs, wanted, singles)
        single = np.column_stack([np.full(len(keys), SINGLE, np.uint64), keys, keys])
        count = min(FIRST_SET, pairs.most_summed)
        while True:
            yield Sums(self.scores, pairs, count)
            found, c_pairs = pairs.best(wanted, products)
            ids = np.concatenate(
                [single, np.column_stack([np.full(len(c_pairs), PRODUCT, np.uint64), found.reshape(-1, 2)])]
            )
            size = np.abs(np.concatenate([self._single_factor * c, c_pairs]))
            order = np.argsort(-size, kind="stable")[:wanted]
            smallest = float(size[order[-1]]) if len(order) == wanted else 0.0
            needed = pairs.features_above(max(smallest, np.finfo(float).tiny))
            if needed <= pairs.summed:
                break
            count = needed
        self.sets.append(pairs.summed)
        chosen = ids[order]
        yield from self._gather(chosen)
        return chosen

    def _best_singles(
        self, pairs: PairScores, wanted: int, without: NDArray[np.uint64]
    ) -> Generator[Scan, None, tuple[NDArray[np.uint64], NDArray[np.float64]]]:
        if not self.scores.sketched:
            return self.scores.best(wanted, without)
        scan = Shortlist(self.scores, pairs, wanted, self._memory // 8, without)
        yield scan
        return scan.ranked(wanted)

    def _gather(self, ids: NDArray[np.uint64]) -> Iterator[Scan]:
        """Single features first, then products: the order of the columns."""
        fresh = [entry for entry in dict.fromkeys(map(tuple, ids.tolist())) if entry not in self._column]
        cache = self.problem.columns
        singles = [entry for entry in fresh if entry[0] == SINGLE]
        if singles:
            scan = Collect(
                self.scores, cache, np.array([a for _, a, _ in singles], np.uint64), self._single_factor
            )
            yield scan
            self._note(singles)
        products = [entry for entry in fresh if entry[0] == PRODUCT]
        if products:
            flat = np.array([key for _, *ab in products for key in ab], dtype=np.uint64)
            yield CollectPairs(self.scores, cache, flat, (self._cross_factor, self._square_factor))
            self._note(products)

    def _note(self, entries: list[tuple[int, int, int]]) -> None:
        for entry in entries:
            self._column[entry] = len(self._ids)
            self._ids.append(entry)
            self.keys.append(entry[1])
            self.names.append(b"")

    def _columns_of(self, ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
        return np.array([self._column[entry] for entry in map(tuple, ids.tolist())], dtype=np.uint32)

    def weights(self) -> NDArray[np.float64]:
        """For the products as they are."""
        factor = {SINGLE: self._single_factor}
        factors = [
            factor.get(kind, self._square_factor if a == b else self._cross_factor)
            for kind, a, b in self._ids
        ]
        weights: NDArray[np.float64] = super().weights() * np.array(factors)
        return weights

    def more_facts(self) -> dict[str, Any]:
        """Of how many features all products were summed, round by round."""
        return {"products_summed_of": self.sets}

    def _name(self) -> Iterator[Scan]:
        assert self.kept is not None
        kept = [(column, self._ids[column]) for column in self.kept.tolist()]
        keys = list(dict.fromkeys(key for _, (_, a, b) in kept for key in (a, b)))
        names = {key: self.scores.derived_name(key) for key in keys}
        if not all(names.values()):
            scan = Name(self.scores, np.array(keys, dtype=np.uint64))
            yield scan
            names = dict(zip(keys, scan.names, strict=True))
            self.collisions += scan.collisions
        for column, (kind, a, b) in kept:
            self.names[column] = single_name(names[a]) if kind == SINGLE else pair_name(names[a], names[b])

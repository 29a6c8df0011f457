"""Additive kernels: each feature is a group, the features that its value becomes (section 6.1).

A group's score is |c_j|^2 over the 100 or 11 features of core/additive_map.hpp; neither they nor their
scores are ever written down: scores are made feature by feature from the column (or, when rows are
not in memory, from sums at the knots of the map, in as many scans a round as a quarter of `--memory`
asks for), and what is kept of a chosen feature is one column, from which the solver takes the sums
over all of the group at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import AdditiveMap, AdditiveScores
from fsstream.algorithms.fgm.groups import GroupMachine
from fsstream.algorithms.fgm.scans import CollectRuns, KeptScan, Name
from fsstream.expansion import Expansion, part_name
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsstream._native import Batch, ColumnCache, FeatureScores
    from fsstream.algorithms.scanning import Scan


class ScoreAdditive(KeptScan):
    """|c_j|^2 of as many features as fit."""

    def __init__(self, scores: FeatureScores, additive: AdditiveScores) -> None:
        super().__init__(scores)
        self._additive = additive

    def see(self, batch: Batch, first_row: int) -> None:
        self._additive.add(batch, first_row)

    def see_kept(self) -> None:
        self._additive.add_kept()

    def finish(self) -> None:
        super().finish()
        self._additive.finish()


class AdditiveMachine(GroupMachine):
    """k counts features of the input; each brings all that its value becomes."""

    def __init__(self, *fixed: Any, **options: Any) -> None:
        super().__init__(*fixed, table=None, **options)
        expand, parameters = self._parameters.expand, self._parameters
        self._shape = parameters.exponent if expand == "histogram" else parameters.width
        self._map = AdditiveMap(expand, self._shape)
        self.scores.note_ranges()

    def _no_columns(self) -> ColumnCache:
        columns = super()._no_columns()
        columns.expand_by(self._map)
        return columns

    def _mean_square(self) -> float:
        """|phi(x)|^2 of a row is at most the number of its values."""
        return self.scores.entries / max(self.scores.rows, 1)

    def _groups(self) -> int:
        return 0

    @property
    def _settles_cost(self) -> bool:
        """C is in the scale of |phi(x)|^2 already: held-out rows changed nothing, for twice the time."""
        return False

    def _score(self) -> Iterator[Scan]:
        additive = AdditiveScores(self.scores, self._map, self.current_residuals(), self._memory // 4)
        while not additive.done:
            yield ScoreAdditive(self.scores, additive)
        self._found = additive.squares()

    def _squares(self) -> NDArray[np.float64]:
        return self._found

    def _collect(self, keys: NDArray[np.uint64]) -> Iterator[Scan]:
        fresh = np.array([key for key in keys.tolist() if key not in set(self.keys)], dtype=np.uint64)
        if len(fresh) == 0:
            return
        scan = CollectRuns(self.scores, self.problem.columns, fresh)
        yield scan
        for key, name in zip(fresh.tolist(), scan.names, strict=True):
            self.keys += [key] * self._map.features
            self.names += [part_name(name, part) if name else b"" for part in range(self._map.features)]
        self.collisions += scan.collisions

    def _columns_of(self, ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """All columns of each feature, one after the other."""
        first = {key: column for column, key in reversed(list(enumerate(self.keys)))}
        starts = [first[key] for key in self._keys_of(ids).tolist()]
        columns = np.add.outer(np.array(starts, np.uint32), np.arange(self._map.features, dtype=np.uint32))
        return columns.astype(np.uint32).ravel()

    def _name(self) -> Iterator[Scan]:
        columns = self._first_columns()
        if all(self.names[column] for column in columns):
            return
        scan = Name(self.scores, np.array([self.keys[column] for column in columns], dtype=np.uint64))
        yield scan
        for first, name in zip(columns, scan.names, strict=True):
            for part in range(self._map.features):
                self.names[first + part] = part_name(name, part)
        self.collisions += scan.collisions

    def _first_columns(self) -> list[int]:
        assert self.kept is not None
        first: list[int] = self.kept[self.kept % self._map.features == 0].tolist()
        return first

    def _label(self, group: int, column: int) -> str:
        return to_text(self._base(column))

    def _base(self, column: int) -> bytes:
        return self.names[column].rpartition(b"#")[0]

    def expansion(self) -> Expansion | None:
        """The map, and the ranges of the features that were kept."""
        if self.kept is None:
            return None
        lows, highs = self.scores.ranges()
        number = {key: place for place, key in enumerate(self.scores.keys().tolist())}
        first = self._first_columns()
        at = [number[self.keys[column]] for column in first]
        names = [self._base(column) for column in first]
        return Expansion(self._parameters.expand, self._shape, names, lows[at], highs[at])

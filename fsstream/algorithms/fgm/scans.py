"""One scan of the rows each: what fgm wants from the stream, batch by batch.

In: Batches in input order. Out: what the scan was for, once it is finished. The same work is done
on rows kept in memory, when they fitted there.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from fsstream._native import CandidateCollector, ColumnCollector
from fsstream.algorithms.scanning import Rescan, Scan
from fsstream.errors import LimitError
from fsstream.units import show_size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fsstream._native import Batch, ColumnCache, FeatureScores

SPARE = 16 << 20  # bytes of the program's own that rows may take besides --memory
ROW_BYTES = 120  # target, importance, cost, decision, residuals, and what a step makes of them
CANDIDATES = 4  # collected for each feature that is wanted, when c is only sketched


class Load(Scan):
    """The first scan: numbers the features and keeps the rows while they fit."""

    def __init__(self, scores: FeatureScores, memory: int) -> None:
        super().__init__()
        self._scores = scores
        self._memory = memory

    def see(self, batch: Batch, first_row: int) -> None:
        self._scores.load(batch)
        if self._scores.rows * ROW_BYTES > self._memory + SPARE:
            raise LimitError(
                f"fgm keeps {ROW_BYTES} bytes of each row: {self._scores.rows:,} of them do not fit into "
                f"--memory {show_size(self._memory)}",
                hint="raise --memory, or take a sample of the rows",
            )


class RescanScores(Rescan):
    """A later scan of the rows that were scored."""

    def __init__(self, scores: FeatureScores) -> None:
        super().__init__(scores.rows)
        self._scores = scores


class KeptScan(RescanScores):
    """One that rows in memory will do for."""

    @abstractmethod
    def see_kept(self) -> None:
        """All rows at once, from memory."""

    def use_kept_rows(self) -> bool:
        if not self._scores.rows_kept:
            return False
        self.see_kept()
        return True


class Score(KeptScan):
    """c = sum of r_i x_i over every feature."""

    def __init__(self, scores: FeatureScores, residuals: NDArray[np.float64]) -> None:
        super().__init__(scores)
        scores.start(residuals)

    def see(self, batch: Batch, first_row: int) -> None:
        self._scores.add(batch, first_row)

    def see_kept(self) -> None:
        """Nothing yet: c is summed column by column, when the largest are asked for."""


class CollectScan(KeptScan):
    """What a collector keeps of chosen features."""

    def __init__(self, scores: FeatureScores, collector: ColumnCollector) -> None:
        super().__init__(scores)
        self._collector = collector

    def see(self, batch: Batch, first_row: int) -> None:
        self._collector.add(batch, first_row)

    def see_kept(self) -> None:
        self._collector.add_kept(self._scores)
        self._collector.finish()

    def finish(self) -> None:
        super().finish()
        self._collector.finish()

    @property
    def columns(self) -> NDArray[np.uint32]:
        """One column number a key."""
        return self._collector.columns

    @property
    def names(self) -> list[bytes]:
        """Empty where rows in memory could not tell."""
        return self._collector.names()

    @property
    def collisions(self) -> int:
        """Entries whose key came under a second name."""
        return self._collector.collisions


class Collect(CollectScan):
    """The columns and names of chosen features."""

    def __init__(
        self, scores: FeatureScores, cache: ColumnCache, keys: NDArray[np.uint64], factor: float = 1.0
    ) -> None:
        super().__init__(scores, ColumnCollector(cache, keys, factor))


class CollectRuns(CollectScan):
    """The names of chosen features, and of each the run of columns that the cache's map makes of it."""

    def __init__(self, scores: FeatureScores, cache: ColumnCache, keys: NDArray[np.uint64]) -> None:
        super().__init__(scores, ColumnCollector(cache, keys, scores))


class CollectCandidates(RescanScores):
    """The worst case by estimates, re-scored exactly from the columns this scan collects."""

    def __init__(self, scores: FeatureScores, count: int, limit: int, without: NDArray[np.uint64]) -> None:
        super().__init__(scores)
        self._collector = CandidateCollector(scores, CANDIDATES * count, limit, without)

    def see(self, batch: Batch, first_row: int) -> None:
        self._collector.add(batch, first_row)

    def finish(self) -> None:
        super().finish()
        self._collector.finish()

    def ranked(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Keys and c of the best."""
        return self._collector.ranked(count)

    def take(self, count: int, cache: ColumnCache) -> list[tuple[int, float, bytes, int]]:
        """Key, c, name and column of the best; their columns move into the cache."""
        return self._collector.take(count, cache)


class Name(RescanScores):
    """Only the names: kept rows have none, when names are text."""

    def __init__(self, scores: FeatureScores, keys: NDArray[np.uint64]) -> None:
        super().__init__(scores)
        self._collector = ColumnCollector(None, keys)

    def see(self, batch: Batch, first_row: int) -> None:
        self._collector.add(batch, first_row)

    @property
    def names(self) -> list[bytes]:
        """One a key."""
        return self._collector.names()

    @property
    def collisions(self) -> int:
        """Entries whose key came under a second name."""
        return self._collector.collisions

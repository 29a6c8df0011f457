"""A learner whose work is a sequence of scans, written as a generator that asks for them.

In: Batches, pass after pass. A scan is fed by the runner, or from rows in memory when it can be;
the generator goes on when it is over. So the outer loop of an algorithm reads as in its paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from fsstream.algorithms.feature_tables import open_table
from fsstream.algorithms.learner import Learner
from fsstream.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream._native import Batch


class Scan(ABC):
    """One pass over the rows; a row's number is its place in the pass."""

    def __init__(self) -> None:
        self.rows = 0

    def add(self, batch: Batch) -> None:
        """The next rows."""
        self.see(batch, self.rows)
        self.rows += batch.rows

    @abstractmethod
    def see(self, batch: Batch, first_row: int) -> None: ...

    def use_kept_rows(self) -> bool:
        """Do the whole scan on the rows in memory; False: only the stream will do."""
        return False

    def finish(self) -> None:
        """The pass is over."""
        return


class Ignore(Scan):
    """What is left of a pass that a checkpoint interrupted."""

    def see(self, batch: Batch, first_row: int) -> None:
        pass


class Rescan(Scan):
    """A later scan of the same rows."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        self._expected = expected

    def finish(self) -> None:
        if self.rows != self._expected:
            raise DataError(
                f"the stream has {self.rows} rows in this scan, {self._expected} in the first",
                hint="the input is read several times; it must not change while this runs",
            )


class ScanningLearner(Learner):
    """Feeds the scan that the work is waiting for.

    `save` puts what was so when a scan was asked for last: work may be left at any point.
    """

    knows_rows_by_number = True
    resumes_within_a_pass = False

    def _go(self, work: Iterator[Scan]) -> None:
        self._work = work
        self._scan: Scan | None = next(work)
        self.note_standing()

    @abstractmethod
    def note_standing(self) -> None:
        """A scan is asked for: from here a resume goes on, until the next one is."""

    def update(self, batch: Batch) -> None:
        """The next rows of the current scan; there are no scores before the last one."""
        if self._scan is not None:  # done, while learners of other classes still scan
            self._scan.add(batch)

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """The first scan numbers the features."""
        return open_table(features)

    def end_pass(self) -> bool:
        """Runs every scan that memory can serve; True when the next one needs the stream."""
        if self._scan is None:
            return False
        self._scan.finish()
        for scan in self._work:
            self.note_standing()
            self.between_scans()
            if not scan.use_kept_rows():
                self._scan = scan
                return True
        self._scan = None
        return False

"""How a run went: what was selected, the time and the memory, noted whenever the rows have doubled.

In: the rows as they are learned. Out: points for the summary. The selection of a point is compared with
that of the point before: the share of features that both have. Only backends that read rows once always
have a selection; the others give one at the end of their passes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fsstream.algorithms.learner import Access
from fsstream.memory import peak_memory

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner

FIRST_POINT = 1024  # rows


class Course:
    """Collects the points of one run."""

    def __init__(self, learner: Learner, access: Access, *, with_selection: bool) -> None:
        self._learner = learner
        self._looks = with_selection and access is Access.ROWS
        self._started = time.monotonic()
        self._rows = 0
        self._next = FIRST_POINT
        self._before: set[tuple[Any, bytes]] | None = None
        self.points: list[dict[str, Any]] = []

    def go_on(self, rows: int) -> None:
        """So many rows were learned before the run was interrupted; their points are gone with it."""
        self._rows = rows
        while self._next <= rows:
            self._next *= 2

    def learned(self, rows: int) -> None:
        """So many more rows or features have been learned."""
        self._rows += rows
        if self._rows >= self._next:
            self.note()

    def note(self) -> None:
        """A point, here."""
        if self.points and self.points[-1]["rows"] == self._rows:
            return
        while self._next <= self._rows:
            self._next *= 2
        seconds = time.monotonic() - self._started
        self.points.append(
            {"rows": self._rows, "seconds": seconds, "memory": peak_memory(), "overlap": self._overlap()}
        )

    def _overlap(self) -> float | None:
        """What this selection shares with the one before: |both| / |either|."""
        if not self._looks:
            return None
        selection = self._learner.selection()
        now = set(zip(selection.classes or [0] * len(selection), selection.raw_names, strict=True))
        before, self._before = self._before, now
        if before is None:
            return None
        either = len(before | now)
        return len(before & now) / either if either else 1.0

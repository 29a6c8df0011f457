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
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsstream.algorithms.learner import Learner

FIRST_POINT = 1024  # rows


class Course:
    """Collects the points of one run."""

    def __init__(self, learner: Learner, access: Access, *, with_selection: bool) -> None:
        self._learner = learner
        self._looks = with_selection and access is Access.ROWS
        self._started = time.monotonic()
        self.rows = 0  # or features learned, in all passes
        self._next = FIRST_POINT
        self._before: set[tuple[Any, bytes]] | None = None
        self.points: list[dict[str, Any]] = []

    def state(self, rows: int) -> dict[str, Any]:
        """What `go_on` needs, of the time when so many rows were learned."""
        before = None
        if self._before is not None:
            before = [[label, to_text(name)] for label, name in sorted(self._before)]
        return {
            "rows": rows,
            "seconds": self._seconds(),
            "points": [point for point in self.points if point["rows"] <= rows],
            "before": before,
        }

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave, as a run that was interrupted went until then."""
        self.rows = int(state["rows"])
        self.points = [dict(point) for point in state["points"]]
        self._started = time.monotonic() - float(state["seconds"])
        before = state["before"]
        self._before = None if before is None else {(label, to_bytes(name)) for label, name in before}
        while self._next <= self.rows:
            self._next *= 2

    def learned(self, rows: int) -> None:
        """So many more rows or features have been learned."""
        self.rows += rows
        if self.rows >= self._next:
            self.note()

    def note(self) -> None:
        """A point, here."""
        if self.points and self.points[-1]["rows"] == self.rows:
            return
        while self._next <= self.rows:
            self._next *= 2
        memory = max([peak_memory(), *(point["memory"] for point in self.points[-1:])])
        self.points.append(
            {"rows": self.rows, "seconds": self._seconds(), "memory": memory, "overlap": self._overlap()}
        )

    def _seconds(self) -> float:
        return time.monotonic() - self._started

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

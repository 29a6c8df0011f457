"""Progress for people: a bar on a terminal, a line every 30 seconds in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from fsstream.units import show_count, show_size, show_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsstream.rows import RowSource
    from fsstream.sources import Input

_LOG_SECONDS = 30.0
_BAR_SECONDS = 0.2


class Progress:
    """Shows how far a pass, or what comes before it, is. Asked for (True), forbidden (False), or as the
    terminal is (None).
    """

    def __init__(self, source: Input | RowSource, *, wanted: bool | None, quiet: bool) -> None:
        self._source = source
        self._terminal = sys.stderr.isatty()
        self._shown = not quiet and wanted is not False
        self._bar: Any = None
        self._use_bar = self._shown and self._terminal
        self.start("")

    def start(self, title: str, counted: str = "rows", *, reads_source: bool = True) -> None:
        """Something new begins, in which things are counted; what does not read the source has no bytes."""
        self.close()
        self._title, self._counted, self._reads_source = title, counted, reads_source
        self._count = 0
        self._started = self._last = time.monotonic()
        if self._use_bar and title:
            from tqdm import tqdm

            unit = "B" if reads_source else f" {counted}"
            self._bar = tqdm(
                total=self._done()[1], unit=unit, unit_scale=True, desc=title, leave=False, miniters=1
            )

    def _done(self) -> tuple[int, int | None]:
        return self._source.progress() if self._reads_source else (self._count, None)

    def update(self, count: int, remark: Callable[[], str]) -> None:
        """After each batch; cheap unless it is time to show something, and the remark with it."""
        self._count += count
        now = time.monotonic()
        if not self._shown or now - self._last < (_BAR_SECONDS if self._use_bar else _LOG_SECONDS):
            return
        self._last = now
        seconds = max(now - self._started, 1e-9)
        done, total = self._done()
        if self._bar is not None:
            rate = f", {show_count(self._count / seconds)} {self._counted}/s" if self._reads_source else ""
            self._bar.set_postfix_str(f"{rate}{remark()}".removeprefix(", "), refresh=False)
            self._bar.update(done - self._bar.n)
        else:
            self._log(seconds, done, total, remark())

    def _log(self, seconds: float, done: int, total: int | None, remark: str) -> None:
        speed = done / seconds
        size = f", {show_size(done)}, {show_size(speed)}/s" if self._reads_source else ""
        left = f", {show_time((total - done) / speed)} left" if total and speed and done < total else ""
        line = f"{self._title}: {show_count(self._count)} {self._counted}{size}{remark}{left}"
        print(f"fsstream: {line}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

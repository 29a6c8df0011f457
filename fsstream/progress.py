"""Progress for people: a bar on a terminal, a line every 30 seconds in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from fsstream.units import show_count, show_size, show_time

if TYPE_CHECKING:
    from fsstream.rows import RowSource
    from fsstream.sources import Input

_LOG_SECONDS = 30.0
_BAR_SECONDS = 0.2


class Progress:
    """Shows how far a pass is. Asked for (True), forbidden (False), or as the terminal is (None)."""

    def __init__(self, source: Input | RowSource, *, wanted: bool | None, quiet: bool) -> None:
        self._source = source
        self._terminal = sys.stderr.isatty()
        self._shown = not quiet and wanted is not False
        self._bar: Any = None
        self._use_bar = self._shown and self._terminal
        self._started = self._last = time.monotonic()
        self._rows = 0

    def start_pass(self, number: int) -> None:
        """A new pass begins."""
        self.close()
        self._rows = 0
        self._started = self._last = time.monotonic()
        if self._use_bar:
            from tqdm import tqdm

            _, total = self._source.progress()
            self._bar = tqdm(
                total=total, unit="B", unit_scale=True, desc=f"pass {number}", leave=False, miniters=1
            )

    def update(self, rows: int, loss: float | None) -> None:
        """After each batch; cheap unless it is time to show something."""
        self._rows += rows
        now = time.monotonic()
        if not self._shown or now - self._last < (_BAR_SECONDS if self._use_bar else _LOG_SECONDS):
            return
        self._last = now
        done, total = self._source.progress()
        shown_loss = "" if loss is None else f", progressive loss {loss:.4f}"
        if self._bar is not None:
            rate = self._rows / max(now - self._started, 1e-9)
            self._bar.set_postfix_str(f"{show_count(rate)} rows/s{shown_loss}", refresh=False)
            self._bar.update(done - self._bar.n)
        else:
            self._log(now, done, total, shown_loss)

    def _log(self, now: float, done: int, total: int | None, loss: str) -> None:
        seconds = now - self._started
        speed = done / seconds
        left = f", {show_time((total - done) / speed)} left" if total and speed and done < total else ""
        print(
            f"fsstream: {show_count(self._rows)} rows, {show_size(done)}, {show_size(speed)}/s{loss}{left}",
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

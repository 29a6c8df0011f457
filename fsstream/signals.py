"""Signals: a run stops between two batches or steps of a solver, or at once while it only waits for input.

A second signal ends the program on the spot.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fsstream._native import ask_to_stop_with
from fsstream.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType


class StopSignals:
    """While entered, SIGINT and SIGTERM become `Interrupted` where it is safe."""

    _CAUGHT = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self._pending: int | None = None
        self._waiting = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._catch) for number in self._CAUGHT}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise what came while it was not safe to."""
        if self._pending is not None:
            raise Interrupted(self._pending, f"stopped by {signal.Signals(self._pending).name}")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around code that a signal may leave at any point."""
        self.check()
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Around work in the core that asks between its steps: there a signal leaves it."""
        self.check()
        ask_to_stop_with(self.check)
        try:
            yield
        finally:
            ask_to_stop_with(None)
        self.check()

    def _catch(self, number: int, frame: FrameType | None) -> None:
        if self._pending is not None:
            os._exit(128 + number)
        self._pending = number
        if self._waiting:
            self._waiting = False
            self.check()

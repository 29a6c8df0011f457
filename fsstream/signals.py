"""Signals: a run stops between two batches or steps of a solver, or at once while it only waits for input.

A second signal ends the program on the spot.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, ClassVar

from fsstream._native import ask_to_stop_with
from fsstream.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType


_CAUGHT = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """While entered, SIGINT and SIGTERM become `Interrupted` where it is safe."""

    entered: ClassVar[StopSignals | None] = None

    def __init__(self) -> None:
        self._pending: int | None = None
        self._waiting = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> StopSignals:
        if _in_main_thread():
            self._before = {number: signal.signal(number, self._catch) for number in _CAUGHT}
            StopSignals.entered = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        if StopSignals.entered is self:
            StopSignals.entered = None

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
    def held(self) -> Iterator[None]:
        """Around code amid that which no signal may leave: one that comes does at its end."""
        waiting, self._waiting = self._waiting, False
        try:
            yield
        finally:
            self._waiting = waiting
        if waiting:
            self.check()

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


def held() -> AbstractContextManager[None]:
    """Of the signals that become `Interrupted` here, if any do."""
    signals = StopSignals.entered if _in_main_thread() else None
    return nullcontext() if signals is None else signals.held()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

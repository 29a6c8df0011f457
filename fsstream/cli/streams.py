"""The three standard streams, before anything else is opened.

A descriptor of theirs that came closed goes to /dev/null: else the next file that is opened would take its
number, and get what others write to it. What is said on standard error never ends a run: a full disk or a
reader that is gone loses messages, not results.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys


class _Messages(io.TextIOWrapper):
    """Standard error, unbuffered; what cannot be written is lost."""

    def write(self, text: str, /) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


def prepare() -> None:
    """Once, at the start of the program. A closed sys.stdin or sys.stdout stays None."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    raw = io.FileIO(2, "w", closefd=False)
    sys.stderr = _Messages(raw, encoding="utf-8", errors="backslashreplace", write_through=True)

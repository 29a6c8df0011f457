"""One run at a time: an advisory lock that dies with its process."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import FsstreamError, LockBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def held(path: str | None) -> Iterator[None]:
    """Hold the lock file for the time of the block; exit status 75 when another run has it."""
    if path is None:
        yield
        return
    try:
        file = Path(path).open("ab")  # noqa: SIM115
    except OSError as error:
        raise FsstreamError(f"cannot open lock {path}: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockBusyError(
                f"another run holds {path}", hint="it is free as soon as that one has ended, however it ends"
            ) from None
        yield

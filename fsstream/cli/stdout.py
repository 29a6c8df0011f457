"""Standard output: one buffered write, and quiet when nobody listens any more.

As an output it is also called `-`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def is_meant(path: str | None) -> bool:
    """Whether an output goes to standard output."""
    return path is None or path == "-"


def deliver(path: str | None, pieces: Iterable[bytes]) -> None:
    """Write everything to a file, which appears whole or not at all, or to standard output."""
    if path is None or is_meant(path):
        write(pieces)
        return
    from fsstream.publish import Publisher

    with Publisher() as publisher:
        publisher.add(path, pieces)
        publisher.commit()


def write(pieces: Iterable[bytes]) -> None:
    """Write everything; end the command when the reader has gone (`| head`)."""
    for piece in pieces:
        with _outcome():
            _write_whole(piece)
    with _outcome():
        if sys.stdout is not None:
            sys.stdout.buffer.flush()


@contextlib.contextmanager
def _outcome() -> Iterator[None]:
    """What a failed write means; making the pieces may fail too, which is not the output's fault."""
    try:
        yield
    except OSError as error:
        # What is still buffered must not raise again when the interpreter ends, and change the exit status.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(0) from None
        raise FsstreamError(f"standard output: {error.strerror}") from None


def _write_whole(piece: bytes) -> None:
    """With PYTHONUNBUFFERED a write may take a part only: when a disk gets full, when a signal arrives."""
    if sys.stdout is None:
        raise FsstreamError("standard output is closed", hint="redirect it")
    rest = memoryview(piece)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]

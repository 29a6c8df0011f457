"""Standard output: one buffered write, and quiet when nobody listens any more."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from collections.abc import Iterable


def write(pieces: Iterable[bytes]) -> None:
    """Write everything; end the command when the reader has gone (`| head`)."""
    try:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    except OSError as error:
        # What is still buffered must not raise again when the interpreter ends, and change the exit status.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(0) from None
        raise FsstreamError(f"standard output: {error.strerror}") from None

"""Everything that can go wrong, and the exit status each kind means.

The message is written for the person who reads it in a cron mail: what stood where, what
was expected, and a hint on what to do.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class FsstreamError(Exception):
    """A failure with a message for the user; the command exits with `exit_code`."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class DivergedError(FsstreamError):
    """Weights that left the range of numbers, at the `row` that they were found in, from 1; 0: in none."""

    def __init__(self, what: str, *, row: int = 0, hint: str | None = None) -> None:
        super().__init__(f"{what} at row {row}" if row else what, hint=hint)
        self.what, self.row = what, row


class UsageError(FsstreamError):
    """Options that make no sense, or an extra that is not installed."""

    exit_code = 2


class DataError(FsstreamError):
    """Bad or truncated input. `path`, `line` and `column` (both from 1) say where, when known."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = "".join(f"{part}:" for part in (path, line, column) if part is not None)
        super().__init__(f"{place} {message}" if place else message, hint=hint)
        self.path, self.line, self.column = path, line, column


class RowError(DataError):
    """A row of a batch will not do: the learner knows which one, what fed it where that stands."""

    def __init__(self, row: int, name: str, expected: str, *, hint: str) -> None:
        super().__init__(f"expected {expected}, got {name!r}", hint=hint)
        self.row, self.expected = row, expected


def no_data() -> DataError:
    """Of a stream without records."""
    return DataError("there is no data: not one record", hint="is the input, or a filter before it, empty?")


class LimitError(FsstreamError):
    """A declared limit (memory, classes, disk) cannot be kept."""

    exit_code = 4


class CorruptError(FsstreamError):
    """A model or checkpoint that is not what was written."""

    exit_code = 5


@contextmanager
def fitting(whole: str) -> Iterator[None]:
    """Around taking over a state: where it does not fit the options it came with, the file is corrupt."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise CorruptError(f"{whole} does not fit its own options: {error}") from error


@contextmanager
def opening(path: object) -> Iterator[None]:
    """Around reading a file that the user has named."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except OSError as error:
        raise FsstreamError(f"cannot read {path}: {error.strerror}") from None


class LockBusyError(FsstreamError):
    """Another run holds the lock."""

    exit_code = 75


class Interrupted(FsstreamError):
    """Stopped by a signal; the exit status is the shell's, 128 + the signal's number."""

    def __init__(self, signal_number: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number

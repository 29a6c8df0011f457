"""A private file for data that is read again: hidden from others, gone when the run is.

In: bytes. Out: the same bytes, by offset.
"""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import CorruptError, FsstreamError, LimitError, UsageError
from fsstream.leftovers import create, remove_leftovers
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "fsstream-spool-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, *_FULL)  # of the machine, not a wrong folder


class SpoolFile:
    """Append, then read anywhere. Closing removes it, and so does the end of the program."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self._directory = Path(directory if directory is not None else tempfile.gettempdir())
        self.size = 0
        try:
            remove_leftovers(self._directory, PREFIX)
            self._descriptor, self.path = create(self._directory, PREFIX)
        except OSError as error:
            kind = FsstreamError if error.errno in _SHORT else UsageError
            raise kind(
                f"cannot spool to {self._directory}: {error.strerror}", hint="name a folder with --spool-dir"
            ) from error
        self._finalizer = weakref.finalize(self, _remove, self.path, self._descriptor, os.getpid())

    def append(self, pieces: Sequence[bytes]) -> int:
        """Write the pieces one after the other at the end; the offset of the first."""
        begin = self.size
        for piece in pieces:
            left = memoryview(piece)
            while left:
                written = self._write(left)
                self.size += written
                left = left[written:]
        return begin

    def read(self, offset: int, buffer: memoryview) -> None:
        """Fill the buffer from `offset` on; CorruptError when there is less."""
        filled = 0
        while filled < len(buffer):
            try:
                count = os.preadv(self._descriptor, [buffer[filled:]], offset + filled)
            except OSError as error:
                raise FsstreamError(f"cannot read {self.path}: {error.strerror}") from error
            if not count:
                raise CorruptError(f"{self.path}: damaged: it ends too early")
            filled += count

    def close(self) -> None:
        """Remove the file."""
        self._finalizer()

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            self.close()
            if error.errno in _FULL:
                raise LimitError(
                    f"{self._directory} is full: the spool had grown to {show_size(self.size)}",
                    hint="name a folder with more room with --spool-dir; files, unlike pipes, need no spool",
                ) from error
            raise FsstreamError(f"cannot write {self.path}: {error.strerror}") from error


def _remove(path: Path, descriptor: int, process: int) -> None:
    if os.getpid() == process:  # a forked child leaves its parent's file alone
        path.unlink(missing_ok=True)
    os.close(descriptor)

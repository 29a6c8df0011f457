"""The bytes of one file or of standard input as they lie there: counted, and peeked at without seeking."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from typing import TYPE_CHECKING, Protocol

from fsstream.errors import DataError, FsstreamError

if TYPE_CHECKING:
    import io

PIPE_BYTES = 1 << 20  # what a pipe is asked to hold: fewer wake-ups of the writer


class ByteStream(Protocol):
    """What blocks are cut from: bytes into a buffer, 0 at the end."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the front of a buffer with at least one byte; 0 when there is nothing more."""
        ...


class RawStream:
    """An unbuffered file, pipe or terminal. `position` counts the bytes handed out.

    Interrupted reads are taken up again by Python itself; short ones are passed on as they are.
    """

    def __init__(self, file: io.FileIO, name: str) -> None:
        self.name = name
        self.position = 0
        self._file = file
        self._front = b""
        self._read = 0
        self._expected = self._file_bytes()
        self._begin = file.tell() if self._expected else 0
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(file.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def front(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; they stay to be read."""
        while len(self._front) < size:
            more = self._ask(bytearray(size - len(self._front)))
            if not more:
                break
            self._front += more
        return self._front[:size]

    def readinto(self, buffer: memoryview, /) -> int:
        """Read what is there into the buffer; 0 at the end."""
        if self._front:
            count = min(len(self._front), len(buffer))
            buffer[:count] = self._front[:count]
            self._front = self._front[count:]
        else:
            count = self._checked(buffer)
        self.position += count
        return count

    def rewind(self) -> bool:
        """Go back to where it was when it was opened; whether that can be done: of regular files only."""
        if not self._expected:
            return False
        self._file.seek(self._begin)
        self.position, self._front, self._read = 0, b"", 0
        return True

    def close(self) -> None:
        """Close the file (standard input stays open)."""
        self._file.close()

    def _ask(self, space: bytearray) -> bytes:
        return bytes(space[: self._checked(memoryview(space))])

    def _checked(self, buffer: memoryview) -> int:
        try:
            count = self._file.readinto(buffer)
        except OSError as error:
            raise FsstreamError(f"cannot read {self.name}: {error.strerror or error}") from error
        if count is None:
            raise FsstreamError(
                f"cannot read {self.name}: it is set to non-blocking and has nothing to read",
                hint="pass it through a pipe: cat INPUT | fsstream ...",
            )
        if not count and buffer:
            self._check_whole()
        self._read += count
        return count

    def _check_whole(self) -> None:
        """At the end: a file that was cut while it was read must not pass for one that ends there."""
        now = self._file_bytes()
        if self._read < self._expected and now < self._expected:
            raise DataError(
                f"the file became shorter while it was read: {now} bytes, {self._expected} when opened",
                path=self.name,
                hint="read it when nothing writes to it any more, or a copy",
            )

    def _file_bytes(self) -> int:
        """How many bytes a regular file has from where it was opened on; 0 of anything else."""
        with contextlib.suppress(OSError, AttributeError):
            status = os.fstat(self._file.fileno())
            if stat.S_ISREG(status.st_mode):
                return max(0, status.st_size - self._file.tell() + self._read)
        return 0

"""One INPUT: a path or standard input, as plain bytes whose beginning may be looked at before it is read.

What can be said about a path is said when its Source is made; the file is opened, as a Stream, in its turn.
A file that is opened again must be the one that was read before.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fsstream.errors import DataError, FsstreamError, UsageError
from fsstream.sources.ahead import AT_ONCE, Ahead
from fsstream.sources.compression import plain_bytes
from fsstream.sources.raw import RawStream
from fsstream.sources.short_lines import ShortLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from fsstream.sources.raw import ByteStream

    Take = Callable[[Buffer, int], tuple[int, int]]  # how many whole records at the front, and their bytes

STDIN = "-"


@dataclass(frozen=True)
class Fingerprint:
    """What tells that a file is still the one that was read before."""

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds

    @classmethod
    def of(cls, status: os.stat_result) -> Fingerprint:
        """From what fstat says."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class Source:
    """One INPUT: a file, anything that can be opened and read like one, or standard input.

    Raises UsageError when the path does not exist, is a directory or must not be read.
    """

    def __init__(self, path: str) -> None:
        self.name = "<stdin>" if path == STDIN else path
        self._path = None if path == STDIN else Path(path)
        self._seen: Fingerprint | None = None
        self.size = self._regular_size()

    @property
    def rereadable(self) -> bool:
        """Whether another pass may open it again: regular files only."""
        return self.size is not None and self._path is not None

    def identity(self) -> dict[str, str | int | None]:
        """What tells files apart without reading them: path, size and time of change."""
        modified = None
        if self.rereadable:
            assert self._path is not None
            modified = self._path.stat().st_mtime_ns
        return {
            "path": STDIN if self._path is None else str(self._path),
            "size": self.size if self.rereadable else None,
            "modified": modified,
        }

    def open(self, longest_line: int | None = None) -> Stream:
        """The plain bytes from the beginning; DataError when the file is no longer what it was."""
        try:
            raw = RawStream(self._open_file(), self.name)
        except OSError as error:
            raise FsstreamError(f"cannot open {self.name}: {error.strerror}") from error
        try:
            return Stream(raw, longest_line)
        except BaseException:
            raw.close()
            raise

    def open_plain(self) -> BinaryIO:
        """The file as it lies there, packed if it is; DataError when it is no longer what it was."""
        return io.BufferedReader(self._open_file())

    def _open_file(self) -> io.FileIO:
        if self._path is None:
            return io.FileIO(0, closefd=False)
        file = io.FileIO(self._path)
        try:
            self._check_unchanged(Fingerprint.of(os.fstat(file.fileno())))
        except BaseException:
            file.close()
            raise
        return file

    def _check_unchanged(self, now: Fingerprint) -> None:
        if self._seen is None:
            self._seen = now
        elif not self.rereadable:
            raise FsstreamError(f"{self.name} can be read only once", hint="give a file, or spool the stream")
        elif now != self._seen:
            raise DataError(
                "the file has changed since the pass before",
                path=self.name,
                hint="passes must see the same data: copy the file, or wait until it is complete",
            )

    def _regular_size(self) -> int | None:
        if self._path is None and sys.stdin is None:
            raise self._unusable("")
        try:
            status = os.fstat(0) if self._path is None else self._path.stat()
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except ValueError as error:  # a NUL in the path
            raise self._unusable(str(error)) from error
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{self.name} is a directory", hint=f"name its files: {self.name.rstrip('/')}/*")
        if self._path is not None and not os.access(self._path, os.R_OK):
            raise UsageError(f"{self.name} must not be read: {os.strerror(errno.EACCES)}")
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def _unusable(self, why: str) -> UsageError:
        if self._path is None:
            return UsageError(
                "standard input is closed", hint="name a file, or redirect one into the command"
            )
        return UsageError(f"cannot read {self.name}: {why}")


class Stream:
    """One opened source: plain bytes, of which the beginning may be looked at before it is read."""

    def __init__(self, raw: RawStream, longest_line: int | None = None) -> None:
        self._raw = raw
        self._longest_line = longest_line
        plain = plain_bytes(raw)
        self.packed = plain is not raw
        self._bytes = self._in_short_lines(plain)
        self._ahead = Ahead()
        self._ended = False

    @property
    def position(self) -> int:
        """Bytes taken from the file, compressed if it is."""
        return self._raw.position

    def front(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; they stay to be read."""
        self._look(size)
        return bytes(self._ahead.view(0, size))

    def readinto(self, buffer: memoryview, /) -> int:
        """As ByteStream: what was looked at comes first."""
        if not self._ahead:
            return 0 if self._ended else self._bytes.readinto(buffer)
        return self._ahead.take(buffer)

    def take_no_lines(self) -> None:
        """What follows is no text: nothing of it is to be cut."""
        if isinstance(self._bytes, ShortLines):
            self._bytes = self._bytes.whole

    def peek(self, records: int, take: Take, limit: int, longest: int) -> tuple[int, int, bool]:
        """The first `records` whole records, fewer when the source or the limit ends.

        Where the limit holds not even one, as far as `longest` bytes. Returns their bytes, for
        `beginning`, their number, and whether they are all there is.
        """
        end = found = 0
        enough = records
        size = min(limit, AT_ONCE >> 4)
        while True:
            self._look(size)
            have = len(self._ahead)
            more, length = take(self._ahead.view(end, size), records - found)
            found, end = found + more, end + length
            if not found and size == limit:
                limit, enough = longest, 1
            ended = self._ended and have <= limit
            if ended and found < records:
                return have, found + (have > end), True
            if found >= enough or size == limit:
                return end, found, ended and end == have
            # A record that is still going on is looked at from its beginning: then twice as much at once.
            size = min(size + (min(size, AT_ONCE) if end else size), limit)

    def beginning(self, size: int) -> memoryview:
        """What was looked at; nothing more can be looked at while it is held."""
        return self._ahead.view(0, size)

    def let_go(self) -> None:
        """Keep nothing in memory of what was looked at, if it is much and can be read again."""
        if self._ended or len(self._ahead) <= AT_ONCE or not self._raw.rewind():
            return
        self._ahead = Ahead()
        self._bytes = self._in_short_lines(plain_bytes(self._raw))

    def _in_short_lines(self, plain: ByteStream) -> ByteStream:
        return plain if self._longest_line is None else ShortLines(plain, self._longest_line)

    def _look(self, size: int) -> None:
        """Have `size` bytes to look at, fewer only when there are no more."""
        self._ended = self._ended or not self._ahead.fill(size, self._bytes.readinto)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

"""Sources that the caller of the library hands over: open files and chunks of bytes, read once."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from fsstream.errors import FsstreamError, UsageError
from fsstream.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class GivenSource(Source):
    """A file object, or an iterable of bytes whose pieces may end anywhere. It is not closed."""

    def __init__(self, given: io.RawIOBase | io.BufferedIOBase | Iterable[bytes]) -> None:
        if isinstance(given, io.TextIOBase):
            raise UsageError("a file of text was given, and records are bytes", hint="open it with mode 'rb'")
        name = getattr(given, "name", None)
        self.name = name if isinstance(name, str) else "<stream>"
        self.size = None
        self._path = None
        self._given = given
        self._opened = False

    def _open_file(self) -> io.FileIO:
        if self._opened:
            raise FsstreamError(f"{self.name} can be read only once", hint="give a path, or open it anew")
        self._opened = True
        given: Any = self._given
        lent = _Lent(given) if hasattr(given, "read") else _Chunks(iter(given))
        return cast("io.FileIO", lent)  # RawStream asks for no more than readinto and close


class _Lent:
    """A file whose owner will close it."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file

    def readinto(self, buffer: memoryview) -> int:
        piece = self._file.read(len(buffer))
        if not isinstance(piece, bytes | bytearray):
            raise UsageError(f"expected a file of bytes, read {type(piece).__name__}", hint="mode 'rb'")
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """It is the owner's."""


class _Chunks:
    """Pieces of bytes as one file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readinto(self, buffer: memoryview) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            if not isinstance(piece, bytes | bytearray | memoryview):
                raise UsageError(
                    f"expected pieces of bytes, got {type(piece).__name__}",
                    hint="paths are given as a list of str, text as bytes: line.encode()",
                )
            self._left = memoryview(piece).cast("B")
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """There is nothing to close."""

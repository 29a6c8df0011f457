"""A stream whose lines are no longer than the longest record: of one that is, the rest is left out.

    |<--- a line, up to the most --->|...... the rest ......|\\n       as it comes
    |<--- a line, up to the most --->|\\0|\\n                          as it is given

The NUL makes it a bad record in every format of lines, so that it is skipped and counted as others are. Where
bad records end the run nobody cuts lines: the first that is too long is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsstream.sources.raw import ByteStream

END = b"\0\n"  # of a line that was cut
_WIDE = 1 << 18
_TAIL = 4096  # bytes in which the last line end is looked for first


class ShortLines:
    """A ByteStream over another one."""

    def __init__(self, stream: ByteStream, most: int) -> None:
        self.whole, self._most = stream, most
        self._length = 0  # of the line that goes on
        self._leaves_out = False
        self._space = memoryview(b"")  # what is left out is read into
        self._left = memoryview(b"")  # of what came behind it, and is still to be given

    def readinto(self, buffer: memoryview, /) -> int:
        """Some bytes; 0 at the end."""
        while not self._left:
            # Whoever has read the longest record asks for a byte or two more: not so little at a time.
            room = self._wide() if self._leaves_out else buffer
            count = self.whole.readinto(room)
            if not count:
                return 0
            if not self._leaves_out and self._length + count <= self._most:
                self._go_on(room[:count])
                return count
            self._left = memoryview(self._cut(bytes(room[:count])))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _wide(self) -> memoryview:
        self._space = self._space or memoryview(bytearray(_WIDE))
        return self._space

    def _go_on(self, piece: memoryview) -> None:
        for size in (_TAIL, len(piece)):
            last = bytes(piece[-size:]).rfind(b"\n")
            if last >= 0:
                self._length = min(size, len(piece)) - last - 1
                return
        self._length += len(piece)

    def _cut(self, piece: bytes) -> bytes:
        kept = []
        *ended, begun = piece.split(b"\n")
        for text, ends in [*((line, True) for line in ended), (begun, False)]:
            if not self._leaves_out:
                room = self._most - self._length
                kept.append(text[:room])
                self._leaves_out = len(text) > room
                kept.append(END[:1] if self._leaves_out else b"")
                self._length += len(text)
            if ends:
                kept.append(END[1:])
                self._length, self._leaves_out = 0, False
        return b"".join(kept)

"""A stream of bytes cut into Blocks of whole records.

In: a byte stream and the format's `head`, which finds the end of the last whole record. Out: Blocks.
Bytes are read straight into reusable buffers; only the piece of a record at a buffer's end is moved, to
the front of the next one:

    |<---- whole records: the Block ---->|<- begun ->|        the buffer, full
    |<- begun ->|<-------- read here next -------->|          the next one

A record that does not fit goes on in a buffer that holds the longest one allowed: of that, pages are taken
only as it is filled, a quarter of what is there at a time, so that little of what follows the record is in
its Block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsstream._native import count_lines
from fsstream.errors import DataError
from fsstream.numerics import np
from fsstream.sources.short_lines import END

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsstream.sources.raw import ByteStream

    Head = Callable[[memoryview], int]

BLOCK_BYTES = 1 << 20
PIECE_BYTES = 1 << 18  # of what is looked at
RECORD_LIMIT = 64 << 20
LONG_BLOCK = 2 << 20  # bytes; beyond the size of blocks, so that only a long record makes such a one


@dataclass(frozen=True, order=True)
class Position:
    """Between two records of an Input: so much of the source with that number lies before it."""

    source: int
    offset: int  # in the plain (decompressed) source
    digest: str = field(default="", compare=False)  # of everything before it, in all sources


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole records of one source.

    The data stays valid for as long as anybody holds it or something made of it (a Batch, a view): a
    buffer is written again only when it has been let go. Only a source's last record may lack its line end.
    """

    source: str  # the name to show: the path as given, or <stdin>
    data: memoryview
    first_line: int  # of the first record, counted from 1 in each source
    offset: int  # of the first byte in the plain (decompressed) source
    end: Position | None = None  # where the next one begins, when positions are kept

    @property
    def is_long(self) -> bool:
        """Whether it takes more memory than is kept ready for blocks."""
        return len(self.data) > LONG_BLOCK

    @property
    def was_cut(self) -> bool:
        """Whether it is what ShortLines left of a line that is too long: that is a Block of its own."""
        return len(self.data) > RECORD_LIMIT - len(END) and bytes(self.data[-2:]).endswith((END, END[:1]))

    @property
    def begins_source(self) -> bool:
        """Whether a file begins here: where its header is, if it has one."""
        return self.offset == 0

    def line_at(self, offset: int) -> int:
        """The line of the byte at `offset` within the data."""
        return self.first_line + count_lines(self.data[:offset])

    def column_at(self, offset: int) -> int:
        """The column (from 1, in bytes) of the byte at `offset` within the data."""
        return offset - bytes(self.data[:offset]).rfind(b"\n")

    def cut(self, length: int) -> list[Block]:
        """The same bytes as two blocks, the first of this length; as one when it would leave nothing."""
        if not 0 < length < len(self.data):
            return [self]
        head, rest = self.data[:length], self.data[length:]
        line, offset = self.first_line + count_lines(head), self.offset + length
        return [
            Block(self.source, head, self.first_line, self.offset),
            Block(self.source, rest, line, offset),
        ]


class Buffers:
    """Buffers that have been let go are used again: nobody's bytes are ever overwritten."""

    def __init__(self, size: int = BLOCK_BYTES) -> None:
        self.size = size
        self._pool: list[bytearray] = []

    def take(self, least: int = 0) -> bytearray:
        """A buffer nobody else holds; one longer than usual is not kept for later."""
        if least > self.size:
            return bytearray(least)
        self._pool = [buffer for buffer in self._pool if len(buffer) == self.size]
        for buffer in self._pool:
            if _let_go(buffer):
                return buffer
        fresh = bytearray(self.size)
        self._pool.append(fresh)
        return fresh


def _let_go(buffer: bytearray) -> bool:
    """Whether no view of the buffer is left: only then may it change its length."""
    try:
        buffer.append(buffer.pop())
    except BufferError:
        return False
    return True


def read_blocks(
    stream: ByteStream,
    head: Head,
    source: str,
    buffers: Buffers | None = None,
    limit: int = RECORD_LIMIT,
    *,
    line: int = 1,
    offset: int = 0,
) -> Iterator[Block]:
    """The Blocks of one source, in order, from where the stream stands: the given line and offset.

    What is left at its end is its last record.

    Raises DataError when a record is longer than `limit` bytes, whatever the size of the blocks.
    """
    buffers = buffers or Buffers(min(BLOCK_BYTES, limit))
    begun = memoryview(b"")  # the record that the last block's buffer ended in
    ended = False
    while not ended:
        buffer = memoryview(buffers.take(len(begun)))
        filled, whole = len(begun), 0
        buffer[:filled] = begun
        del begun
        while not whole and not ended:
            if filled == len(buffer):
                buffer = _longer(buffer, limit + 1)
            filled, ended = _fill(stream, buffer[: max(buffers.size, filled + filled // 4 + 1)], filled)
            whole = filled if ended else head(buffer[: min(filled, limit)])
            if not whole and filled > limit:
                raise too_long(source, line, limit)
        if whole:
            data = buffer[:whole]
            yield Block(source, data, line, offset)
            line += count_lines(data)
            offset += whole
            del data
        begun = buffer[whole:filled]
        del buffer


def cut(
    data: memoryview, head: Callable[[memoryview, bool], int], size: int = PIECE_BYTES
) -> Iterator[memoryview]:
    """Bytes that are all there in pieces of whole records, of about `size` bytes where records allow it."""
    begin, room = 0, size
    while begin < len(data):
        end = min(begin + room, len(data))
        whole = head(data[begin:end], end == len(data))
        if whole:
            yield data[begin : begin + whole]
        begin, room = begin + whole, size if whole else 2 * room


def too_long(source: str, line: int, limit: int) -> DataError:
    """What a record beyond the limit is answered with."""
    return DataError(
        f"a record is longer than {limit >> 20} MB"
        if limit >> 20
        else f"a record is longer than {limit} bytes",
        path=source,
        line=line,
        hint="is it the right --format, and does the file have line ends?",
    )


def _fill(stream: ByteStream, buffer: memoryview, filled: int) -> tuple[int, bool]:
    """Read until the buffer is full or the stream has ended: bytes in it, and which of the two."""
    while filled < len(buffer):
        count = stream.readinto(buffer[filled:])
        if not count:
            return filled, True
        filled += count
    return filled, False


def _longer(buffer: memoryview, most: int) -> memoryview:
    """The same bytes with as much room as any record may need; memory is taken when it is written."""
    longer = np.empty(most, np.uint8).data
    longer[: len(buffer)] = buffer
    return longer

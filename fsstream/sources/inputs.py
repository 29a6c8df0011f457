"""The INPUT arguments as one stream of Blocks: paths and standard input, one after the other.

In: the paths. Out: first, if wanted, a look at the beginning (`peek`), then the Blocks of a pass.
Everything that can be said about the paths is said at construction; files are opened when their turn comes.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from fsstream._native import RunningDigest, count_lines, take_records
from fsstream.errors import DataError, UsageError
from fsstream.sources.ahead import AT_ONCE
from fsstream.sources.blocks import (
    BLOCK_BYTES,
    RECORD_LIMIT,
    Block,
    Buffers,
    Position,
    read_blocks,
    too_long,
)
from fsstream.sources.short_lines import END
from fsstream.sources.source import STDIN, Source, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsstream.sources.blocks import Head
    from fsstream.sources.source import Take

_STDIN_NAMES = (STDIN, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_MOST_OPEN = 8  # files at once, of many short ones that are looked at; others are opened again in their turn
take_lines = partial(take_records, "lines")
PEEK_RECORDS = 10_000
_SOMETHING = re.compile(rb"\S")
PEEK_BYTES = 16 << 20  # of a pipe held until they are read: memory that no option counts
_SOURCE_END = b"\0end of a source\0"  # in the digest, so that moving bytes between files is seen


class Input:
    """All INPUTs as one stream; no path at all, or `-`, is standard input.

    A record never spans two sources; lines and offsets of each source count from its beginning.
    When positions are kept, every block says where it ends and what the digest of all bytes up to there is,
    so a later run can go on there, and tell whether the bytes before are the same.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str] | Source] = (),
        *,
        size: int = BLOCK_BYTES,
        limit: int = RECORD_LIMIT,
        keep_positions: bool = False,
        cut_lines: bool = False,
    ) -> None:
        given = [path if isinstance(path, Source) else os.fspath(path) for path in paths] or [STDIN]
        if sum(path in _STDIN_NAMES for path in given) > 1:
            raise UsageError("standard input can be read only once, and is given twice")
        self.sources = [path if isinstance(path, Source) else Source(path) for path in given]
        self._limit = limit
        self._longest_line = limit - len(END) if cut_lines else None  # so that one that was cut is a record
        self._buffers = Buffers(min(size, limit))
        self._opened: dict[int, Stream] = {}
        self._current: Stream | None = None
        self._done_before = 0
        self._keep_positions = keep_positions
        self.digest = ""  # of the whole input, after a pass, when positions are kept

    @property
    def block_size(self) -> int:
        """How many bytes are read at once, where records are not longer; from the next pass on."""
        return self._buffers.size

    @block_size.setter
    def block_size(self, size: int) -> None:
        self._buffers.size = min(size, self._limit)

    @property
    def rereadable(self) -> bool:
        """Whether several passes can be made without a spool."""
        return all(source.rereadable for source in self.sources)

    def peek(
        self, records: int = PEEK_RECORDS, take: Take = take_lines, limit: int = PEEK_BYTES
    ) -> list[Block]:
        """The first whole records of the stream, one Block for each source they come from.

        A source of blank lines alone tells nothing and has none.

        The records stay to be read, once the Blocks are let go of. What is seen depends on the bytes
        alone: the first `records` records, or as many as `limit` bytes hold. `take` counts
        records; lines unless told otherwise.
        """
        blocks: list[Block] = []
        for index, source in enumerate(self.sources):
            stream = self._open(index)
            longest = max(limit, 0 if blocks else self._limit)
            size, found, complete = stream.peek(records, take, limit, longest)
            if size and _SOMETHING.search(beginning := stream.beginning(size)):
                blocks.append(Block(source.name, beginning, 1, 0))
            if source.rereadable and len(self._opened) > _MOST_OPEN:
                self._opened.pop(index).close()
            records, limit = records - found, limit - size
            if not complete or not records or limit <= 0:
                break
        if not blocks and not complete:
            raise too_long(source.name, 1, self._limit)
        return blocks

    def blocks(self, head: Head, start: Position | None = None, *, skip: bool = True) -> Iterator[Block]:
        """One pass: every Block of every source, in order. The next pass opens the files again.

        With a start, what lies before it must be what it was, else DataError. It is skipped, or given again
        with a block ending exactly at the start.
        """
        self._done_before = 0
        digest = RunningDigest()
        for index, source in enumerate(self.sources):
            stream = self._open(index)
            self._current = stream
            try:
                stream.let_go()
                line, offset = 1, 0
                if start is not None and skip and index <= start.source:
                    line, offset = self._skip(stream, index, start, digest)
                blocks = read_blocks(
                    stream, head, source.name, self._buffers, self._limit, line=line, offset=offset
                )
                if self._keep_positions:
                    blocks = self._placed(blocks, Position(index, offset, digest.text), start, digest)
                yield from blocks
            finally:
                self._opened.pop(index, None)  # close() may have been first
                self._current = None
                self._done_before += stream.position
                stream.close()
            digest.add(_SOURCE_END)
        self.digest = digest.text

    def _skip(self, stream: Stream, index: int, start: Position, digest: RunningDigest) -> tuple[int, int]:
        """Read what lies before the start: the line and offset at which the source goes on."""
        left = start.offset if index == start.source else None
        space = memoryview(bytearray(AT_ONCE))
        line, offset = 1, 0
        while left is None or offset < left:
            count = stream.readinto(space if left is None else space[: left - offset])
            if not count:
                break
            digest.add(space[:count])
            line += count_lines(space[:count])
            offset += count
        if left is not None:
            self._check(start, Position(index, offset, digest.text))
        return line, offset

    def _placed(
        self, blocks: Iterator[Block], reached: Position, start: Position | None, digest: RunningDigest
    ) -> Iterator[Block]:
        """The blocks behind what has been reached, with their ends; one ends at the start."""
        here = start if start is not None and start.source == reached.source else None
        for whole in blocks:
            for block in whole.cut(here.offset - whole.offset if here else 0):
                digest.add(block.data)
                reached = Position(reached.source, block.offset + len(block.data), digest.text)
                if reached == here:
                    self._check(here, reached)
                yield replace(block, end=reached)
            del whole, block  # a long one is gone before the next one is read
        if here is not None and reached < here:
            self._check(here, reached)

    def _check(self, expected: Position, found: Position) -> None:
        if (expected.offset, expected.digest) != (found.offset, found.digest):
            raise self.changed(self.sources[expected.source].name)

    @staticmethod
    def changed(name: str) -> DataError:
        """What is said of an input that is not the one that was learned from."""
        return DataError(
            "this is not the input that the run has learned from so far",
            path=name,
            hint="resume with the same files, or feed the same stream again; or start anew with select",
        )

    def front(self, size: int) -> bytes:
        """The first bytes of the first source, which stay to be read."""
        return self._open(0).front(size)

    def seekable(self, index: int, directory: str | None = None) -> BinaryIO:
        """A source as a file that is read in any order: a copy on disk of what is a pipe, or packed."""
        source, stream = self.sources[index], self._open(index)
        try:
            if source.rereadable and not stream.packed:
                return source.open_plain()
            import tempfile

            copy = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (the caller's)
            stream.take_no_lines()
            buffer = memoryview(bytearray(AT_ONCE))
            while count := stream.readinto(buffer):
                copy.write(buffer[:count])
            return copy
        finally:
            self._opened.pop(index).close()

    def progress(self) -> tuple[int, int | None]:
        """Bytes of this pass taken from the files, packed as they are, and of how many (None: unknown)."""
        sizes = [source.size for source in self.sources]
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        return self._done_before + (self._current.position if self._current else 0), total

    def close(self) -> None:
        """Close what has been opened to be looked at and was never read."""
        while self._opened:
            self._opened.popitem()[1].close()

    def _open(self, index: int) -> Stream:
        if index not in self._opened:
            self._opened[index] = self.sources[index].open(self._longest_line)
        return self._opened[index]

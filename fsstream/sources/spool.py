"""Batches that must be read again: written once, in a compact form, and given back pass after pass.

In: the batches of the first pass, as parsed (before labels become targets). Out: batches with the same
rows, in the same order or in a fresh seeded order each pass. The rows are cut anew into chunks, so
neither order depends on how the stream was cut into Blocks.

`shuffled` takes the chunks in a random order and permutes all rows of as many of them as the memory
holds: of all of them, when the whole spool fits. So the order depends on data, seed, pass and memory.
"""

from __future__ import annotations

import os
import struct
from array import array
from typing import TYPE_CHECKING

from fsstream._native import (
    Batch,
    SpoolEncoder,
    checksum,
    decode_chunk,
    decoded_size,
    gather_rows,
    origin_of,
    shuffled_order,
)
from fsstream.errors import CorruptError, opening
from fsstream.sources.blocks import Buffers
from fsstream.sources.spool_file import SpoolFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_FRAME = struct.Struct("<8sQQ")  # mark, bytes of the chunk, its checksum
_MARK = b"fsspool1"
_BUFFER_BYTES = 1 << 21
BATCH_ENTRIES = 1 << 16  # of a shuffled batch


class ChunkFile:
    """Chunks on disk by number, each with its checksum."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self.file = SpoolFile(directory)
        self._offsets = array("Q")
        self._sizes = array("Q")
        self.decoded = array("Q")  # bytes each takes as a Batch
        self._buffers = Buffers(_BUFFER_BYTES)

    def __len__(self) -> int:
        return len(self._offsets)

    def append(self, chunks: Sequence[bytes]) -> None:
        """Write chunks at the end."""
        for chunk in chunks:
            frame = _FRAME.pack(_MARK, len(chunk), checksum(chunk))
            self._offsets.append(self.file.append([frame, chunk]))
            self._sizes.append(len(chunk))
            self.decoded.append(decoded_size(chunk))

    def read(self, number: int, *, keep: bool = False) -> memoryview:
        """The bytes of one chunk, verified; in a buffer of their own size if they are kept for long."""
        size = _FRAME.size + self._sizes[number]
        frame = memoryview(bytearray(size) if keep else self._buffers.take(size))[:size]
        self.file.read(self._offsets[number], frame)
        chunk = frame[_FRAME.size :]
        if _FRAME.pack(_MARK, len(chunk), checksum(chunk)) != frame[: _FRAME.size]:
            raise CorruptError(f"{self.file.path}: damaged: the checksum of chunk {number} does not match")
        return chunk


class Spool:
    """The rows of a stream, kept for later passes."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self._chunks = ChunkFile(directory)
        self._encoder = SpoolEncoder()
        self._locate: Callable[[int], tuple[memoryview, int]] | None = None

    @property
    def size(self) -> int:
        """Bytes on disk so far."""
        return self._chunks.file.size

    def write(self, batch: Batch, first_line: int = 1) -> None:
        """Keep the rows of a batch whose text begins at `first_line`. Its labels must not be resolved yet:
        class weights would count twice."""
        self._chunks.append(self._encoder.add(batch, first_line))

    def finish(self) -> None:
        """Every row has been written."""
        self._chunks.append(self._encoder.finish())

    def batches(self) -> Iterator[Batch]:
        """One pass in the order of the stream. A batch is good until the next one is taken."""
        batch = Batch()
        for number in range(len(self._chunks)):
            chunk = self._chunks.read(number)
            decode_chunk(chunk, batch)
            self._locate = lambda row, chunk=chunk: (chunk, row)
            yield batch

    def shuffled(self, seed: int, number: int, memory: int) -> Iterator[Batch]:
        """Pass `number` in an order of its own; `memory` bounds the decoded rows held at a time."""
        out = Batch()
        for step, window in enumerate(self._windows(seed, number, memory)):
            chunks = [self._chunks.read(chunk, keep=True) for chunk in window]
            batches = [_decoded(chunk) for chunk in chunks]
            order = shuffled_order(sum(batch.rows for batch in batches), _seed(seed, number, step + 1))
            at = 0
            while at < len(order):
                begin, at = at, gather_rows(batches, order, at, BATCH_ENTRIES, out)
                rows = order[begin:at]
                self._locate = lambda row, rows=rows, batches=batches, chunks=chunks: _found(
                    int(rows[row]), batches, chunks
                )
                yield out

    def place(self, row: int) -> tuple[str, int]:
        """The source and line that a row of the batch given last came from."""
        assert self._locate is not None
        return origin_of(*self._locate(row))

    def close(self) -> None:
        """Remove what is on disk."""
        self._locate = None
        self._chunks.file.close()

    def _windows(self, seed: int, number: int, memory: int) -> Iterator[list[int]]:
        """Chunk numbers in random order, as many at a time as fit; one at least."""
        window: list[int] = []
        used = 0
        for chunk in shuffled_order(len(self._chunks), _seed(seed, number, 0)).tolist():
            if window and used + self._chunks.decoded[chunk] > memory:
                yield window
                window, used = [], 0
            window.append(chunk)
            used += self._chunks.decoded[chunk]
        if window:
            yield window


def inspect_spool(path: Path) -> dict[str, int]:
    """What is in the spool of a run that goes on or was killed; CorruptError unless all of it is whole."""
    chunks = rows = entries = 0
    with opening(path), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while file.tell() < size:
            frame = file.read(_FRAME.size)
            mark, length, stated = _FRAME.unpack(frame.ljust(_FRAME.size, b"\0"))
            if mark != _MARK or length > size - file.tell():
                raise CorruptError(f"{path}: cut short or damaged behind chunk {chunks}")
            chunk = file.read(length)
            if checksum(chunk) != stated:
                raise CorruptError(f"{path}: damaged: the checksum of chunk {chunks} does not match")
            batch = _decoded(memoryview(chunk))
            chunks, rows, entries = chunks + 1, rows + batch.rows, entries + batch.entries
    return {"chunks": chunks, "rows": rows, "entries": entries, "bytes": size}


def is_spool(path: Path) -> bool:
    """Whether a file begins like a spool."""
    with opening(path), path.open("rb") as file:
        return file.read(len(_MARK)) == _MARK


def _decoded(chunk: memoryview) -> Batch:
    batch = Batch()
    decode_chunk(chunk, batch)
    return batch


def _found(row: int, batches: list[Batch], chunks: list[memoryview]) -> tuple[memoryview, int]:
    for batch, chunk in zip(batches, chunks, strict=True):
        if row < batch.rows:
            return chunk, row
        row -= batch.rows
    raise IndexError(row)


def _seed(seed: int, number: int, step: int) -> int:
    return checksum(struct.pack("<QQQ", seed % 2**64, number, step))

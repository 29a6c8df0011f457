"""The beginning of a stream, as far as a plan looks.

In: the options of a run. Out: its first records as text, what they hold, what share of the whole they are.
"""

from __future__ import annotations

import dataclasses
import math
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import SpoolEncoder
from fsstream.algorithms.learner import Task
from fsstream.errors import no_data
from fsstream.reading import RowsReading, make_reading
from fsstream.task import decide
from fsstream.text import to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.reading import AnyReading

LARGEST = 64 << 20  # bytes


@dataclass(frozen=True)
class Head:
    """The beginning of a stream, and what share of it that is."""

    pieces: list[bytes]  # whole records each
    share: float
    rows: int
    entries: int
    features: list[int]  # distinct ones in the first pieces
    largest_key: int
    spooled: int  # bytes this takes in a spool
    reading: dict[str, Any]
    task: Task
    row_counts: list[int] = field(default_factory=list)  # of Parquet, whose pieces are not kept
    row_bytes: float = 0.0  # that a row of it takes in its file

    @property
    def sizes(self) -> list[int]:
        """Bytes of each piece."""
        return [round(count * self.row_bytes) for count in self.row_counts] or list(map(len, self.pieces))

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def features_in(self, size: float) -> float:
        """Distinct features in so many bytes; beyond the head by the power that its second half shows."""
        sizes = np.cumsum(self.sizes)
        if size <= sizes[-1] or len(sizes) < 2:
            return max(float(np.interp(size, sizes, self.features)), 1.0)
        half = len(sizes) // 2 - 1
        power = math.log(self.features[-1] / max(self.features[half], 1)) / math.log(sizes[-1] / sizes[half])
        return float(self.features[-1] * (size / sizes[-1]) ** power)


def look_at(options: SelectOptions, chosen: type[Learner]) -> Head:
    """The first LARGEST bytes or a little more; of a shorter stream all."""
    with closing(
        make_reading(dataclasses.replace(options, threads=1, on_bad_line="skip", bad_lines=None))
    ) as reading:
        recipe = reading.recipe()
        met = reading.labels()
        loss, kind = decide(options.loss, met, chosen)
        targets = None
        if reading.format == "columns":
            assert options.targets is not None
            targets = np.zeros(Path(options.targets).read_bytes().count(b"\n"), np.float32)
        row_bytes, in_all = _rows_of(reading)
        pieces: list[bytes] = []
        counts: list[int] = []
        size = rows = entries = spooled = 0
        keys: list[NDArray[np.uint64]] = []
        encoder = SpoolEncoder()
        complete = True
        for parsed in reading.batches():
            if row_bytes:
                counts.append(parsed.block.data.nbytes)  # a line end for each row, good or bad
                size += round(counts[-1] * row_bytes)
            else:
                pieces.append(bytes(parsed.block.data))
                size += len(pieces[-1])
            rows += parsed.batch.rows
            entries += parsed.batch.entries
            keys.append(np.unique(parsed.batch.keys))
            spooled += sum(map(len, encoder.add(parsed.batch)))
            if size >= LARGEST:
                complete = False
                break
        spooled += sum(map(len, encoder.finish()))
        done, total = reading.input.progress()
    # Of plain files more may have been taken than was parsed; of packed ones `done` counts packed bytes.
    share = 1.0 if complete or not total else min(done, size, total) / total
    if in_all:
        share = sum(counts) / in_all
    if not pieces and not counts:
        raise no_data()
    labels = {"binary": ("", ""), "classes": tuple(map(to_text, met.ordered()))}.get(kind, ())
    task = Task(loss=loss, labels=labels, max_classes=options.max_classes, targets=targets)
    largest = max((int(part[-1]) for part in keys if len(part)), default=0)
    return Head(
        pieces, share, rows, entries, _distinct(keys), largest, spooled, recipe, task, counts, row_bytes
    )


def _rows_of(reading: AnyReading) -> tuple[float, int]:
    """Of Parquet: the bytes that a row takes in the files, and how many rows these have; else zeros."""
    if not isinstance(reading, RowsReading):
        return 0.0, 0
    from fsstream.parquet import ParquetSource

    assert isinstance(reading.input, ParquetSource)
    size, rows = reading.input.progress()[1], reading.input.rows_in_all()
    if not size or not rows:
        raise no_data()
    return size / rows, rows


def _distinct(pieces: list[NDArray[np.uint64]]) -> list[int]:
    """How many different keys the first pieces hold."""
    _, first = np.unique(np.concatenate(pieces), return_index=True)
    ends = np.cumsum([len(piece) for piece in pieces])
    new = np.bincount(np.searchsorted(ends, first, side="right"), minlength=len(pieces))
    return [int(count) for count in np.cumsum(new)]

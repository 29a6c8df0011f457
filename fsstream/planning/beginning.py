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
from fsstream.aim import Aim
from fsstream.algorithms.learner import Task
from fsstream.errors import no_data
from fsstream.reading import RowsReading, make_reading
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.pipeline import Parsed
    from fsstream.reading import AnyReading

LARGEST = 64 << 20  # bytes


@dataclass(frozen=True)
class Beginning:
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


def look_at(options: SelectOptions, chosen: type[Learner]) -> Beginning:
    """The first LARGEST bytes or a little more; of a shorter stream all."""
    lenient = dataclasses.replace(options, threads=1, on_bad_line="skip", bad_lines=None)
    with closing(make_reading(lenient)) as reading:
        recipe = reading.recipe()
        met = reading.labels()
        aim = Aim.decide(options, met, chosen)
        targets = _room_for_targets(options) if reading.format == "columns" else None
        row_bytes, rows_in_all = _rows_of(reading)
        seen = _Seen(row_bytes)
        complete = seen.read(reading.batches())
        done, total = reading.input.progress()
    if not seen.keys:
        raise no_data()
    if rows_in_all:
        share = sum(seen.row_counts) / rows_in_all
    elif complete or not total:
        share = 1.0
    else:  # of plain files more may have been taken than parsed; of packed ones `done` counts packed bytes
        share = min(done, seen.size, total) / total
    labels = {"binary": ("", ""), "classes": tuple(map(to_text, met.ordered()))}.get(aim.kind, ())
    return Beginning(
        pieces=seen.pieces,
        share=share,
        rows=seen.rows,
        entries=seen.entries,
        features=_distinct(seen.keys),
        largest_key=max((int(part[-1]) for part in seen.keys if len(part)), default=0),
        spooled=seen.spooled,
        reading=recipe,
        task=Task(loss=aim.loss, labels=labels, max_classes=options.max_classes, targets=targets),
        row_counts=seen.row_counts,
        row_bytes=row_bytes,
    )


def _room_for_targets(options: SelectOptions) -> NDArray[np.float32]:
    """Of columns: as many targets as there are lines, whatever these say."""
    assert options.targets is not None
    return np.zeros(Path(options.targets).read_bytes().count(b"\n"), np.float32)


@dataclass
class _Seen:
    """What the pieces taken so far hold."""

    row_bytes: float
    pieces: list[bytes] = field(default_factory=list)
    row_counts: list[int] = field(default_factory=list)
    keys: list[NDArray[np.uint64]] = field(default_factory=list)  # distinct ones of each piece, ascending
    size: int = 0
    rows: int = 0
    entries: int = 0
    spooled: int = 0

    def read(self, pieces: Iterable[Parsed]) -> bool:
        """Take pieces up to LARGEST bytes; whether these were all."""
        encoder = SpoolEncoder()
        complete = True
        for piece in pieces:
            self._take(piece, encoder)
            if self.size >= LARGEST:
                complete = False
                break
        self.spooled += sum(map(len, encoder.finish()))
        return complete

    def _take(self, piece: Parsed, encoder: SpoolEncoder) -> None:
        data, batch = piece.block.data, piece.batch
        if self.row_bytes:
            self.row_counts.append(data.nbytes)  # a line end for each row, good or bad
            self.size += round(data.nbytes * self.row_bytes)
        else:
            self.pieces.append(bytes(data))
            self.size += data.nbytes
        self.rows += batch.rows
        self.entries += batch.entries
        self.keys.append(np.unique(batch.keys))
        self.spooled += sum(map(len, encoder.add(batch)))


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

"""Rows into columns, for learners that take one feature after the other.

In: the batches of a row stream. Out, as often as wanted: batches whose rows are features: the label is
the feature's name, the keys are sample numbers (from 1, in ascending order), the values its values.

Features come in the order of their keys. That order depends on the features alone: not on the memory, the
blocks or the order of the rows, and it needs no table of all names. Numbered features come by number, named
ones as good as shuffled, since their keys are hashes.

Within the memory everything stays there; beyond it sorted runs go to the spool folder and are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import Batch, ColumnMerger, SpoolEncoder, Transposer
from fsstream.sources.spool import BATCH_ENTRIES, ChunkFile

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_RUN_ENTRIES = 1 << 11  # of a chunk of a run: one of each run is held while they are merged


class Columns:
    """The columns of a stream of rows."""

    def __init__(self, memory: int, directory: str | os.PathLike[str] | None = None) -> None:
        self._memory = memory
        self._directory = directory
        self._transposer = Transposer(memory)
        self._file: ChunkFile | None = None
        self._run_ends: list[int] = []  # in the file, by chunk number
        self._merge_collisions = 0

    @property
    def spilled(self) -> int:
        """Bytes on disk so far."""
        return self._file.file.size if self._file else 0

    @property
    def collisions(self) -> int:
        """How often a key was met under another name than its first, after a pass over the columns."""
        return self._transposer.collisions + self._merge_collisions

    def write(self, batch: Batch) -> None:
        """Take the rows of a batch; they are numbered on from those before."""
        row = 0
        while row < batch.rows:
            row = self._transposer.add(batch, row)
            if self._transposer.full:
                self._spill()

    def finish(self) -> None:
        """Every row has been written."""
        if self._file is not None and not self._transposer.empty:
            self._spill()
        else:
            self._transposer.sort()

    def batches(self) -> Iterator[Batch]:
        """One pass over the columns. A batch is good until the next one is taken."""
        return self._kept() if self._file is None else self._merged(self._file)

    def close(self) -> None:
        """Remove what is on disk."""
        if self._file is not None:
            self._file.file.close()

    def _kept(self, entries: int = BATCH_ENTRIES) -> Iterator[Batch]:
        out = Batch()
        column = 0
        while column < self._transposer.columns:
            out.clear()
            column = self._transposer.columns_to(column, entries, out)
            yield out

    def _spill(self) -> None:
        """Write the rows so far as a sorted run."""
        if self._file is None:
            self._file = ChunkFile(self._directory)
        self._transposer.sort()
        encoder = SpoolEncoder(entries=_RUN_ENTRIES)
        for batch in self._kept():
            self._file.append(encoder.add(batch))
        self._file.append(encoder.finish())
        self._run_ends.append(len(self._file))
        self._transposer.clear()

    def _merged(self, file: ChunkFile) -> Iterator[Batch]:
        runs = [iter(range(*ends)) for ends in zip([0, *self._run_ends], self._run_ends, strict=False)]
        merger = ColumnMerger(len(runs), self._transposer.kmers)
        out, hungry = Batch(), list(range(len(runs)))
        out.clear()
        while hungry or not merger.done:
            for run in hungry:
                if (chunk := next(runs[run], None)) is not None:
                    merger.feed(run, file.read(chunk, keep=True))
            hungry = merger.merge(BATCH_ENTRIES, out)
            if out.rows and (not hungry or out.entries >= BATCH_ENTRIES):
                yield out
                out.clear()
        if out.rows:
            yield out
        self._merge_collisions = merger.collisions

"""A stream, pass after pass: read again where that can be done, else spooled in the first pass.

A spool is a private file that holds the batches in a compact form (sources/spool.py). It is needed for
several passes over what can be read only once, such as a pipe, and for rows that are to be shuffled.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from fsstream.bad_records import row_fault
from fsstream.errors import DataError
from fsstream.rows import Rows
from fsstream.sources import Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from fsstream._native import Batch
    from fsstream.config import SelectOptions
    from fsstream.errors import RowError
    from fsstream.pipeline import Parsed
    from fsstream.reading import AnyReading
    from fsstream.signals import StopSignals
    from fsstream.sources.spool import Spool

SPOOLED_ENTRY = 72  # bytes for an entry of the longest row while it is encoded, with a name of 16 bytes


@dataclass(frozen=True)
class Place:
    """Where a pass stands between two batches.

    The batches of an input are cut as its blocks are, so their place is a position in the input. Those of a
    spool or of transposed columns are always the same ones, so they are counted.
    """

    position: Position | None = None
    batches: int = 0

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Place:
        """The inverse of `plain`."""
        position = plain["position"]
        if position is not None:
            position = Position(int(position["source"]), int(position["offset"]), str(position["digest"]))
        return cls(position, int(plain["batches"]))

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


class StreamFeed:
    """What RowFeed and ColumnFeed share: batches from the input or from its spool."""

    gives = "rows"
    reads_source = True
    _same_order = False  # else each pass is shuffled anew

    def __init__(
        self, options: SelectOptions, reading: AnyReading, signals: StopSignals, start: Place, *, again: bool
    ) -> None:
        self._options = options
        self._reading = reading
        self._signals = signals
        self.place, self.size = Place(), 0
        self._start = start
        self._spool: Spool | None = None
        self._spool_full = False
        self._latest: Parsed | None = None  # the batch in use; None: it came from the spool
        self._keep_rows(again=again)

    def _keep_rows(self, *, again: bool) -> None:
        """Make the spool if one is needed and there is none; before the first batch."""
        needed = (
            self._options.shuffle or (again and not self._reading.input.rereadable) or self._start.batches
        )
        if not needed or self._spool is not None:
            return
        from fsstream.sources.spool import Spool

        self._spool = Spool(self._options.spool_dir)
        if self._reading.room is not None:
            self._reading.room.per_entry += SPOOLED_ENTRY

    def close(self) -> None:
        """Remove the spool."""
        if self._spool is not None:
            self._spool.close()

    def placed(self, wrong: RowError, row: int) -> DataError:
        """As the input has it, now or when it was spooled."""
        if self._latest is not None:
            return row_fault(self._latest.block, self._latest.batch, row, wrong.expected, wrong.hint)
        assert self._spool is not None
        source, line = self._spool.place(row)
        return DataError(wrong.message, path=source, line=line, column=1, hint=wrong.hint)

    def _arrived(self, parsed: Parsed) -> None:
        """What has to be done with a batch of the input before it is given."""

    def _came_back(self, batch: Batch) -> None:
        """The same for a batch of the spool."""

    def _pass(self, number: int) -> Iterator[Batch]:
        """The batches of a pass. A signal may interrupt the waiting for them, not their use."""
        start, self._start = self._start, Place()
        batches = self._from(start, number)
        while True:
            with self._signals.waiting():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _from(self, start: Place, number: int) -> Iterator[Batch]:
        # What is given from the spool must be in it first: rows that are shuffled, and those of the pass in
        # which an interrupted run stood.
        if (self._options.shuffle or start.batches) and not self._spool_full:
            for _ in self._from_input(None):
                pass
        if self._spool is not None and self._spool_full:
            yield from self._from_spool(self._spool, start.batches, number)
        else:
            yield from self._from_input(start.position)

    def _from_input(self, start: Position | None) -> Iterator[Batch]:
        for parsed in self._reading.batches(start, skip=self._spool is None):
            if self._spool is not None:
                self._spool.write(parsed.batch, parsed.block.first_line)
            if parsed.lies_before(start):
                continue
            self._arrived(parsed)
            self.place = Place(parsed.block.end)
            self.size += batch_bytes(parsed.batch) if isinstance(parsed, Rows) else len(parsed.block.data)
            self._latest = parsed
            yield parsed.batch
            self._latest = None
        if self._spool is not None:
            self._spool.finish()
            self._spool_full = True

    def _from_spool(self, spool: Spool, start: int, number: int) -> Iterator[Batch]:
        options = self._options
        if options.shuffle:
            order = 1 if self._same_order else number
            batches = spool.shuffled(options.seed, order, options.memory_bytes // 4)
        else:
            batches = spool.batches()
        for count, batch in enumerate(batches, 1):
            if count <= start:
                continue
            self._came_back(batch)
            self.place = Place(batches=count)
            self.size += batch_bytes(batch)
            yield batch


def batch_bytes(batch: Batch) -> int:
    """The size of a batch that has no text (any more): its keys, values and labels."""
    return 12 * batch.entries + 8 * batch.rows

"""Parquet files as rows, some of a row group at a time.

A file is read from its end, where its index is: what is a pipe, or packed, is copied to disk first.
Each column holds its dictionary and a page while it is read, of a size that the file's writer chose: what
that takes is looked at as it grows, and more than half of --memory ends the run.

A place between two batches is a file and how many of its rows lie before; the digest that goes with it is
that of the bytes of all row groups begun until then.
"""

from __future__ import annotations

import dataclasses
import io
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from fsstream._native import RunningDigest
from fsstream.arrow import NO_COLUMNS, column_names, layout, rows_of
from fsstream.errors import DataError, LimitError
from fsstream.formats.options import FormatOptions
from fsstream.rows import Rows, RowSource
from fsstream.sources.blocks import Position
from fsstream.units import show_size

import pyarrow as pa  # isort: skip (arrow tells what to install when it is missing)
from pyarrow import parquet  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream.arrow import Layout
    from fsstream.sources import Input

_BUFFER_BYTES = 1 << 16  # of a column that is being read
_PIECE_BYTES = 1 << 20
_MOST_OPEN = 16  # files that stay open between passes; of very many each is opened anew when its turn comes


@dataclass
class _Track:
    """Where a pass that goes on begins, and whether what lies before is what it was."""

    start: Position | None
    skip: bool
    checked: bool = False
    _digest: RunningDigest = field(default_factory=RunningDigest)

    @property
    def text(self) -> str:
        """The digest so far."""
        return self._digest.text

    def enter(self, pieces: Iterator[bytes], end: Position) -> bool:
        """Take in a row group that ends there; False when the start lies in it and the bytes are others."""
        for piece in pieces:
            self._digest.add(piece)
        if self.checked or self.start is None or end < self.start:
            return True
        self.checked = True
        return self.start.digest == self.text

    def skips(self, end: Position) -> bool:
        """Whether rows that end there were learned before, and need not be read."""
        return self.skip and self.start is not None and end <= self.start


class ParquetSource(RowSource):
    """The rows of all inputs, which must have the columns of the first."""

    form = "parquet"
    most_rows: ClassVar[int | None] = None  # of a process that tries the beginning of its input

    def __init__(
        self,
        given: Input,
        directory: str | None = None,
        *,
        memory: int | None = None,
        keep_positions: bool = False,
    ) -> None:
        self.keep_tables = False  # whether rows come with their record batch
        self._limit = None if memory is None else memory // 2
        self._keep_positions = keep_positions
        self.name = given.sources[0].name
        self._input = given
        self._directory = directory  # for copies
        self._files: dict[int, BinaryIO] = {}
        self._done = 0
        self._layout = NO_COLUMNS
        self._options = FormatOptions()

    @property
    def names(self) -> list[str]:
        """The paths as given."""
        return [source.name for source in self._input.sources]

    @property
    def layout(self) -> Layout:
        """What the columns are for, once that is settled."""
        return self._layout

    def rows_in_all(self) -> int:
        """As the files' own indexes say."""
        count = 0
        for index in range(len(self._input.sources)):
            with self._opened(index) as file:
                count += file.metadata.num_rows
        return count

    def settle(self, options: FormatOptions) -> FormatOptions:
        """Decide from the columns of the first file."""
        with self._opened(0) as file:
            self._layout = layout(file.schema_arrow, options, labelled=True)
        self._options = self._layout.settled(options)
        return self._options

    def rows(self) -> Iterator[Rows]:
        """One pass; rows count from 1 in each file."""
        rows = self._pass(_Track(None, skip=False))
        return rows if self.most_rows is None else self._beginning(rows, self.most_rows)

    def rows_from(self, start: Position, *, skip: bool) -> Iterator[Rows]:
        """One pass from a start on, or one that is compared with it on the way."""
        return self._pass(_Track(start, skip=skip))

    @staticmethod
    def _beginning(rows: Iterator[Rows], most: int) -> Iterator[Rows]:
        """Whole batches, until there are so many rows."""
        count = 0
        for part in rows:
            yield part
            count += part.block.data.nbytes  # a line end for each row, good or bad
            if count >= most:
                return

    def _pass(self, track: _Track) -> Iterator[Rows]:
        self._done = 0
        for index, source in enumerate(self._input.sources):
            with self._opened(index) as file:
                self._check_same(file.schema_arrow, source.name)
                first_row = 1
                for group in range(file.num_row_groups):
                    known = file.metadata.row_group(group)
                    end = Position(index, first_row - 1 + known.num_rows)
                    if self._keep_positions and not track.enter(self._bytes_of(index, known), end):
                        raise self._input.changed(source.name)
                    if not track.skips(end):
                        yield from self._placed(
                            self._group(file, group, source.name, first_row), index, track
                        )
                    first_row += known.num_rows
            self._done += source.size or 0
        if track.start is not None and not track.checked:
            raise self._input.changed(self.names[track.start.source])

    def _group(self, file: parquet.ParquetFile, group: int, name: str, first_row: int) -> Iterator[Rows]:
        """The rows of a row group; a batch never reaches into the next one."""
        tables = file.iter_batches(batch_size=self._layout.batch_rows, row_groups=[group], use_threads=False)
        for table in tables:
            held = pa.total_allocated_bytes()
            if self._limit is not None and held > self._limit:
                columns = len(file.schema_arrow)
                raise LimitError(
                    f"{name}: to read {columns} columns takes {show_size(held)} for their pages "
                    f"and dictionaries, and half of --memory is {show_size(self._limit)}",
                    hint="raise --memory, or write the file with smaller pages and without dictionaries",
                )
            rows = rows_of(table, self._layout, name, first_row)
            if self.keep_tables:
                rows.table = table
            yield rows
            first_row += table.num_rows

    def _placed(self, batches: Iterator[Rows], index: int, track: _Track) -> Iterator[Rows]:
        """The rows with their places, when they are kept, from the start on."""
        for rows in batches:
            if self._keep_positions:
                end = Position(index, rows.block.offset + len(rows), track.text)
                rows = Rows(dataclasses.replace(rows.block, end=end), rows.batch)  # noqa: PLW2901
            if rows.block.end is None or not track.skips(rows.block.end):
                yield rows

    def _bytes_of(self, index: int, group: pa.RowGroupMetaData) -> Iterator[bytes]:
        """Of all columns of a row group, as they lie in the file."""
        number = self._files[index].fileno()
        for place in range(group.num_columns):
            column = group.column(place)
            at = min(column.data_page_offset, column.dictionary_page_offset or column.data_page_offset)
            end = at + column.total_compressed_size
            while at < end and (piece := os.pread(number, min(_PIECE_BYTES, end - at), at)):
                yield piece
                at += len(piece)

    def progress(self) -> tuple[int, int | None]:
        """Whole files of this pass, and the bytes of all."""
        sizes = [source.size for source in self._input.sources]
        return self._done, None if None in sizes else sum(size for size in sizes if size is not None)

    def close(self) -> None:
        """Remove the copies."""
        while self._files:
            self._files.popitem()[1].close()
        self._input.close()

    @contextmanager
    def _opened(self, index: int) -> Iterator[parquet.ParquetFile]:
        if index not in self._files:
            self._files[index] = self._input.seekable(index, self._directory)
        file = self._files[index]
        file.seek(0)
        try:
            yield parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            what = str(error).splitlines()[0].rstrip(".")
            raise DataError(
                f"not a whole Parquet file: {what}",
                path=self._input.sources[index].name,
                hint="is it complete, and has its writer closed it?",
            ) from error
        finally:
            is_copy = not isinstance(file, io.BufferedReader)  # which is gone when it is closed
            if len(self._files) > _MOST_OPEN and not is_copy:
                self._files.pop(index).close()

    def _check_same(self, schema: pa.Schema, name: str) -> None:
        """A column that is missing would be taken for one of zeros, unless rows are only scored."""
        if not self._options.needs_labels:
            return
        found = column_names(schema)
        for column, kind in self._layout.kinds.items():
            if column not in found:
                raise DataError(
                    f"expected a column {column!r} of the kind {kind}, and there is none",
                    path=name,
                    hint="all files of a stream have the columns of the first",
                )

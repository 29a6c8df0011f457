"""Parquet files as rows, some of a row group at a time.

A file is read from its end, where its index is: what is a pipe, or packed, is copied to disk first.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from fsstream.arrow import NO_COLUMNS, column_names, layout, rows_of
from fsstream.errors import DataError
from fsstream.formats.options import FormatOptions
from fsstream.rows import Rows, RowSource

import pyarrow as pa  # isort: skip (arrow tells what to install when it is missing)
from pyarrow import parquet  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream.sources import Input

_BUFFER_BYTES = 1 << 16  # of a column that is being read


class ParquetSource(RowSource):
    """The rows of all inputs, which must have the columns of the first."""

    form = "parquet"

    def __init__(self, given: Input, directory: str | None = None) -> None:
        self.name = given.sources[0].name
        self._input = given
        self._directory = directory  # for copies
        self._files: dict[int, BinaryIO] = {}
        self._done = 0
        self._plan = NO_COLUMNS
        self._options = FormatOptions()

    @property
    def names(self) -> list[str]:
        """The paths as given."""
        return [source.name for source in self._input.sources]

    def settle(self, options: FormatOptions) -> FormatOptions:
        """Decide from the columns of the first file."""
        with self._opened(0) as file:
            self._plan = layout(file.schema_arrow, options, labelled=True)
        self._options = self._plan.settled(options)
        return self._options

    def rows(self) -> Iterator[Rows]:
        """One pass; rows count from 1 in each file."""
        self._done = 0
        for index, source in enumerate(self._input.sources):
            with self._opened(index) as file:
                self._check_same(file.schema_arrow, source.name)
                first_row = 1
                for table in file.iter_batches(batch_size=self._plan.batch_rows, use_threads=False):
                    yield rows_of(table, self._plan, source.name, first_row)
                    first_row += table.num_rows
            self._done += source.size or 0

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

    def _check_same(self, schema: pa.Schema, name: str) -> None:
        """A column that is missing would be taken for one of zeros, unless rows are only scored."""
        if not self._options.needs_labels:
            return
        found = column_names(schema)
        for column, kind in self._plan.kinds.items():
            if column not in found:
                raise DataError(
                    f"expected a column {column!r} of the kind {kind}, and there is none",
                    path=name,
                    hint="all files of a stream have the columns of the first",
                )

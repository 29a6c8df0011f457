"""A table reduced to selected features, as Parquet.

In: rows with the record batches they were made of. Out: the bytes of a Parquet file, piece by piece and in
one direction, so that a pipe takes them. Columns keep their order and type. Of a column of words, a list or
a map stay the words, items and keys that were selected; a vector keeps its places, and what was not selected
is null in it.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.arrow import items_of, valid_rows, words_of
from fsstream.errors import DataError, UsageError
from fsstream.text import to_bytes

import pyarrow as pa  # isort: skip (arrow tells what to install when it is missing)
import pyarrow.compute as pc  # isort: skip
from pyarrow import parquet  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsstream.arrow import Layout
    from fsstream.rows import Rows

_GROUP_BYTES = 8 << 20  # of a row group, before it is encoded


class ParquetWriter:
    """The kept features of rows as a Parquet file."""

    tags_left_out = 0  # tables have none

    def __init__(self, layout: Layout, names: Sequence[bytes]) -> None:
        self.entries = 0
        self._layout = layout
        self._kept = set(names)
        self._sorted = sorted(self._kept)
        self._sink = io.BytesIO()
        self._writer: parquet.ParquetWriter | None = None
        self._schema = pa.schema([])
        self._pending: list[pa.RecordBatch] = []

    def write(self, rows: Rows) -> bytes:
        """Take the good ones among the rows; what of the file is ready."""
        table, good = rows.table, rows.batch.records
        if len(good) < table.num_rows:
            table = table.take(pa.array(good))
        columns = {}
        for name, column in zip(table.schema.names, table.columns, strict=True):
            reduced = self._reduced(name, column)
            if reduced is not None:
                columns[name] = reduced
        if self._writer is None:
            self._begin(columns)
        self._pending.append(self._fitted(columns, table.num_rows, rows.source))
        if sum(part.nbytes for part in self._pending) >= _GROUP_BYTES:
            self._end_group()
        return self._ready()

    def finish(self) -> bytes:
        """The rest of the file."""
        assert self._writer is not None
        self._end_group()
        self._writer.close()
        return self._ready()

    def _begin(self, columns: dict[str, pa.Array]) -> None:
        if not columns:
            raise UsageError(
                "the table has no label and no column of which something was selected",
                hint="see --label-column",
            )
        self._schema = pa.schema([(name, column.type) for name, column in columns.items()])
        self._writer = parquet.ParquetWriter(self._sink, self._schema)

    def _end_group(self) -> None:
        assert self._writer is not None
        table = pa.Table.from_batches(self._pending, self._schema)
        if table.num_rows:
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._pending = []

    def _ready(self) -> bytes:
        data = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return data

    def _fitted(self, columns: dict[str, pa.Array], rows: int, source: str) -> pa.RecordBatch:
        """As the first file had them; a column that a later one lacks is empty."""
        fitted = []
        for field in self._schema:
            column = columns.get(field.name)
            try:
                fitted.append(pa.nulls(rows, field.type) if column is None else column.cast(field.type))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise DataError(
                    f"column {field.name!r} is no {field.type} as in the first file: {error}", path=source,
                    hint="the files of one stream have the same columns with the same types",
                ) from None  # fmt: skip
        return pa.RecordBatch.from_arrays(fitted, schema=self._schema)

    def _reduced(self, name: str, column: pa.Array) -> pa.Array | None:
        """What stays of a column; None when nothing of it was selected."""
        if pa.types.is_struct(column.type):
            return self._reduced_struct(name, column)
        if name == self._layout.label:
            return column
        kind, feature = self._layout.kinds.get(name), to_bytes(name)
        if kind == "numeric" and feature in self._kept:
            self.entries += len(column) - column.null_count
            return column
        joint = b"=" if kind in ("categorical", "tokens") else b"."
        if kind in (None, "numeric") or not self._any_begins(feature + joint):
            return None
        if kind == "categorical":
            return self._reduced_words(feature + joint, column)
        return self._reduced_items(feature + joint, kind, column)

    def _reduced_struct(self, name: str, column: pa.Array) -> pa.Array | None:
        fields, kept = [], []
        for field, child in zip(column.type, column.flatten(), strict=True):
            reduced = self._reduced(f"{name}.{field.name}", child)
            if reduced is not None:
                fields.append(pa.field(field.name, reduced.type))
                kept.append(reduced)
        return pa.StructArray.from_arrays(kept, fields=fields, mask=column.is_null()) if kept else None

    def _reduced_words(self, prefix: bytes, column: pa.Array) -> pa.Array:
        met = np.zeros(len(column), bool)
        met[valid_rows(column)] = self._met(prefix, column.drop_null())
        self.entries += int(met.sum())
        reduced = _nulled(column, met)
        if pa.types.is_dictionary(column.type):  # whose words are those that stayed
            return reduced.cast(column.type.value_type).dictionary_encode()
        return reduced

    def _reduced_items(self, prefix: bytes, kind: str, column: pa.Array) -> pa.Array:
        rows, items, places = items_of(column)
        filled = np.asarray(items.is_valid(), bool)
        if kind == "vector":
            names = [b"%s%d" % (prefix, place) for place in range(int(places.max(initial=-1)) + 1)]
            met = filled & np.array([name in self._kept for name in names], bool)[places]
        else:
            words = pc.struct_field(items, 0) if kind == "map" else items
            met = np.zeros(len(items), bool)
            met[filled] = self._met(prefix, words.filter(pa.array(filled)))
        self.entries += int(met.sum())
        if kind == "vector" or pa.types.is_fixed_size_list(column.type):
            return _listed(column, rows, _nulled(items, met))
        return _listed(column, rows[met], items.filter(pa.array(met)))

    def _met(self, prefix: bytes, cells: pa.Array) -> NDArray[np.bool_]:
        """Which cells are selected words; none of them is null."""
        places, words = words_of(cells)
        selected: NDArray[np.bool_] = np.array([prefix + word in self._kept for word in words], bool)[places]
        return selected

    def _any_begins(self, prefix: bytes) -> bool:
        place = bisect_left(self._sorted, prefix)
        return place < len(self._sorted) and self._sorted[place].startswith(prefix)


def _nulled(column: pa.Array, keep: NDArray[np.bool_]) -> pa.Array:
    """The column, null where it is not kept."""
    return column.take(pa.array(np.arange(len(column)), mask=~keep))


def _listed(column: pa.Array, rows: NDArray[np.int64], items: pa.Array) -> pa.Array:
    """Items of these rows as a column like the one they are of, where that has no row null there too."""
    its_type, nulls = column.type, column.is_null()
    empty = np.asarray(nulls, bool)
    if pa.types.is_fixed_size_list(its_type):
        size = its_type.list_size
        spread = np.repeat(empty, size)
        at = np.cumsum(~spread) - 1
        return pa.FixedSizeListArray.from_arrays(items.take(pa.array(at, mask=spread)), size, mask=nulls)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(column)))])
    if pa.types.is_map(its_type):
        ends_or_null: Any = pa.array(ends, pa.int32(), mask=np.append(empty, values=False))
        return pa.MapArray.from_arrays(ends_or_null, items.field(0), items.field(1))
    if pa.types.is_large_list(its_type):
        return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), items, mask=nulls)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), items, mask=nulls)

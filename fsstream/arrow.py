"""Arrow record batches as rows: what a column of each type means, and the entries it gives.

A column is numbers (`column`), or words (`column=cell`); a list of words is tokens (`column=word`); a list
of floats, or one of fixed size, is a vector (`column.0`); a map holds named numbers (`column.name`); the
fields of a struct are columns named `column.field`. Null is no entry, as an empty cell of csv.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import ArrayRows, Batch
from fsstream.arrays import RowLabels, row_weights
from fsstream.errors import DataError, UsageError
from fsstream.formats.tables import find_all
from fsstream.rows import Rows, RowSource, row_block
from fsstream.text import to_bytes

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise UsageError("this needs pyarrow", hint="pip install 'fsstream[parquet]'") from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fsstream.formats.options import FormatOptions

_CELLS = 1 << 18  # of a batch
_ROWS = 1 << 13
_INDEX = "__index_level_"  # how pandas calls an index it writes


@dataclass(frozen=True)
class Entries:
    """The entries of one column: row, place among `names`, value."""

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    values: NDArray[np.float32]
    names: list[bytes]


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are for. Kinds: numeric, categorical, tokens, vector, map."""

    kinds: dict[str, str]
    label: str | None

    @property
    def batch_rows(self) -> int:
        """Rows to take at a time."""
        return max(1, min(_ROWS, _CELLS // max(1, len(self.kinds))))

    def settled(self, options: FormatOptions) -> FormatOptions:
        """The options that read the next table in the same way."""
        return dataclasses.replace(
            options,
            label_column=self.label,
            numeric=self._of_kind("numeric"),
            categorical=self._of_kind("categorical"),
        )

    def _of_kind(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name, its_kind in self.kinds.items() if its_kind == kind)


NO_COLUMNS = Layout({}, None)


class FrameSource(RowSource):
    """A data frame of pandas or polars, or an Arrow table: what has the Arrow stream interface."""

    name = "<frame>"
    form = "parquet"

    def __init__(self, frame: Any, y: Any = None, weights: Any = None) -> None:
        self.rereadable = not isinstance(frame, pa.RecordBatchReader)
        self._frame = frame
        self._labels = None if y is None else RowLabels(y, len(frame))
        self._weights = row_weights(weights, len(frame)) if weights is not None else None
        self._layout = NO_COLUMNS

    def settle(self, options: FormatOptions) -> FormatOptions:
        """Decide from the types of the columns."""
        schema = (
            pa.RecordBatchReader.from_stream(self._frame).schema if self.rereadable else self._frame.schema
        )
        self._layout = layout(schema, options, labelled=self._labels is None)
        return self._layout.settled(options)

    def rows(self) -> Iterator[Rows]:
        """One pass, some rows at a time."""
        row = 0
        for table in self._tables():
            for begin in range(0, table.num_rows, self._layout.batch_rows):
                part = table.slice(begin, self._layout.batch_rows)
                end = row + part.num_rows
                labels = None if self._labels is None else self._labels.of(row, end)
                weights = None if self._weights is None else self._weights[row:end]
                yield rows_of(part, self._layout, self.name, row + 1, labels=labels, weights=weights)
                row = end

    def _tables(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_stream(self._frame) if self.rereadable else self._frame


def layout(schema: pa.Schema, options: FormatOptions, *, labelled: bool) -> Layout:
    """Decide what each column is for: by its type, by the options before that.

    The label is `--label-column`, else the column named `label`, else, where one is needed, the first.
    """
    if options.missing and options.needs_labels:
        raise UsageError("--missing is of text", hint="here a null stands for no value")
    types = dict(_leaves(schema))
    names = list(types)
    label = None
    if labelled and names:
        wanted = _found(
            "--label-column", [options.label_column] if options.label_column else [], names, options
        )
        default = None if options.label_column else ("label" if "label" in types else names[0])
        label = wanted[0] if wanted else default
    kinds = {name: _kind(name, its_type) for name, its_type in types.items() if name != label}
    for kind, columns in (("numeric", options.numeric), ("categorical", options.categorical)):
        for name in _found(f"--{kind}", columns, names, options):
            if kinds.get(name) not in ("numeric", "categorical"):
                raise UsageError(
                    f"--{kind} {name}: the column is {'the label' if name == label else types[name]}"
                )
            kinds[name] = kind
    return Layout({name: kind for name, kind in kinds.items() if kind != "none"}, label)


def column_names(schema: pa.Schema) -> set[str]:
    """The names of all columns, with dots."""
    return {name for name, _ in _leaves(schema)}


def rows_of(
    table: pa.RecordBatch,
    layout: Layout,
    source: str,
    first_row: int,
    *,
    labels: tuple[NDArray[np.uint32], list[bytes]] | None = None,
    weights: NDArray[np.float32] | None = None,
) -> Rows:
    """The rows of a record batch; `labels`, places and texts, in place of a label column."""
    columns = dict(_arrays(table))
    parts: list[Entries] = []
    for name, kind in layout.kinds.items():
        if name in columns:
            parts.append(_entries(name, kind, columns[name], source))
    rows, places, values, names = _together(parts)
    order = np.argsort(rows.astype(np.uint16), kind="stable")  # numpy sorts 16 bits by radix
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table.num_rows))]).astype(np.uint64)
    label_places, texts = labels or _labels(columns.get(layout.label or ""), table.num_rows)
    block, batch = row_block(source, table.num_rows, first_row), Batch()
    ordered = places.astype(np.uint64)[order]
    ArrayRows(names).fill(
        block.data, batch, source, starts, ordered, values[order], label_places, texts, weights
    )
    return Rows(block, batch)


def _together(parts: list[Entries]) -> tuple[Any, Any, Any, list[bytes]]:
    names: list[bytes] = []
    places = []
    for part in parts:
        places.append(part.places + len(names))
        names += part.names
    nothing = np.empty(0, np.int64)
    return (
        np.concatenate([nothing, *(part.rows for part in parts)]),
        np.concatenate([nothing, *places]),
        np.concatenate([nothing.astype(np.float32), *(part.values for part in parts)]),
        names,
    )


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    """Every column that is no struct, by its name with dots."""
    for field in schema:
        yield from _leaves_of(field.name, field.type)


def _leaves_of(name: str, its_type: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    if pa.types.is_struct(its_type):
        for field in its_type:
            yield from _leaves_of(f"{name}.{field.name}", field.type)
    elif not name.startswith(_INDEX):
        yield name, its_type


def _arrays(table: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    for name, column in zip(table.schema.names, table.columns, strict=True):
        yield from _arrays_of(name, column)


def _arrays_of(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if not pa.types.is_struct(column.type):
        yield name, column
        return
    for field, child in zip(
        column.type, column.flatten(), strict=True
    ):  # nulls of the struct are its fields'
        yield from _arrays_of(f"{name}.{field.name}", child)


def _kind(name: str, its_type: pa.DataType) -> str:
    is_a = pa.types
    if is_a.is_null(its_type):
        return "none"
    if _is_number(its_type):
        return "numeric"
    if _is_word(its_type):
        return "categorical"
    if is_a.is_list(its_type) or is_a.is_large_list(its_type) or is_a.is_fixed_size_list(its_type):
        inner = its_type.value_type
        number = is_a.is_floating(inner) or is_a.is_decimal(inner)
        if number or (is_a.is_fixed_size_list(its_type) and is_a.is_integer(inner)):
            return "vector"
        if is_a.is_integer(inner) or _is_word(inner):
            return "tokens"
    if is_a.is_map(its_type) and _is_number(its_type.item_type) and _is_text(its_type.key_type):
        return "map"
    raise UsageError(
        f"column {name!r} is {its_type}, which makes no features", hint="leave it out of the table"
    )


def _is_number(its_type: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(its_type) or pa.types.is_floating(its_type) or pa.types.is_decimal(its_type)
    )


def _is_text(its_type: pa.DataType) -> bool:
    is_a = pa.types
    return any(
        (is_a.is_string(its_type), is_a.is_large_string(its_type), is_a.is_string_view(its_type),
         is_a.is_binary(its_type), is_a.is_large_binary(its_type), is_a.is_fixed_size_binary(its_type))
    )  # fmt: skip


def _is_word(its_type: pa.DataType) -> bool:
    is_a = pa.types
    if is_a.is_dictionary(its_type):
        return _is_word(its_type.value_type) or _is_number(its_type.value_type)
    return _is_text(its_type) or bool(is_a.is_boolean(its_type) or is_a.is_temporal(its_type))


def _entries(name: str, kind: str, column: pa.Array, source: str) -> Entries:
    prefix = to_bytes(name)
    if kind == "numeric":
        rows = valid_rows(column)
        values = _numbers(column.drop_null(), name, source)
        return Entries(rows, np.zeros(len(rows), np.int64), values, [prefix])
    if kind == "categorical":
        places, words = words_of(column.drop_null())
        return Entries(
            valid_rows(column), places, np.ones(len(places), np.float32), _joined(prefix, b"=", words)
        )
    rows, items, spread = items_of(column)
    counted = pc.struct_field(items, 1) if kind == "map" else items
    kept = valid_rows(counted)
    rows, spread, items, counted = rows[kept], spread[kept], items.take(pa.array(kept)), counted.drop_null()
    if kind == "tokens":
        places, words = words_of(items)
        return Entries(rows, places, np.ones(len(places), np.float32), _joined(prefix, b"=", words))
    values = _numbers(counted, name, source)
    if kind == "vector":
        longest = int(spread.max()) + 1 if len(spread) else 0
        return Entries(rows, spread, values, [b"%b.%d" % (prefix, place) for place in range(longest)])
    places, words = words_of(pc.struct_field(items, 0))
    return Entries(rows, places, values, _joined(prefix, b".", words))


def items_of(column: pa.Array) -> tuple[NDArray[np.int64], pa.Array, NDArray[np.int64]]:
    """Of lists and maps: the row of each item, the items, and the place of each in its row."""
    if pa.types.is_fixed_size_list(column.type):
        sizes = np.where(np.asarray(column.is_valid()), column.type.list_size, 0)
        items = column.drop_null().flatten()
    else:
        if pa.types.is_map(column.type):
            entry = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
            column = column.cast(pa.list_(entry))
        sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        items = pc.list_flatten(column)  # null lists have no items
    starts = np.cumsum(sizes) - sizes
    rows = np.repeat(np.arange(len(sizes)), sizes)
    return rows, items, np.arange(len(rows)) - starts[rows]


def valid_rows(column: pa.Array) -> NDArray[np.int64]:
    """The rows that hold something."""
    if not column.null_count:
        return np.arange(len(column))
    return np.flatnonzero(np.asarray(column.is_valid()))


def _numbers(column: pa.Array, name: str, source: str) -> NDArray[np.float32]:
    try:
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"expected numbers in column {name!r}: {error}",
            path=source,
            hint=f"--categorical {name} takes cells as they are",
        ) from None
    with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, which is a bad record
        return np.ascontiguousarray(numbers, dtype=np.float32)


def words_of(column: pa.Array) -> tuple[NDArray[np.int64], list[bytes]]:
    """The distinct cells as text, and the place of each cell among them."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    coded = column.dictionary_encode()
    words = coded.dictionary
    if not _is_text(words.type):
        words = words.cast(pa.string())
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), words.cast(pa.binary()).to_pylist()


def _joined(prefix: bytes, joint: bytes, words: list[bytes]) -> list[bytes]:
    return [prefix + joint + word for word in words]


def _labels(column: pa.Array | None, rows: int) -> tuple[NDArray[np.uint32], list[bytes]]:
    if column is None:
        return np.zeros(rows, np.uint32), [b""]
    places = np.zeros(rows, np.uint32)
    found, words = words_of(column.drop_null())
    places[valid_rows(column)] = found + 1
    return places, [b"", *(word.strip() for word in words)]


def _found(option: str, wanted: Sequence[str], names: list[str], options: FormatOptions) -> list[str]:
    places = find_all(option, tuple(wanted), [to_bytes(name) for name in names], options)
    return [names[place] for place in places]

"""Arrays as rows: scipy and numpy matrices, and ids with their values.

In: arrays, labels, and names where the columns have any. Out: Rows, a chunk at a time, the same each pass.
Rows are what they would be in a libsvm file (pairs, with names): zeros of a dense array are no entries,
stored zeros of a sparse one are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import ArrayRows, Batch
from fsstream.errors import UsageError
from fsstream.rows import Rows, RowSource, row_block
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    CsrArrays = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.float32]]  # row starts, ids, values

_ROWS = 1 << 13  # of a chunk, at most
_CELLS = 1 << 18  # of a chunk of a dense array


class RowLabels:
    """One label a row, as text: a table of the distinct ones and each row's place in it."""

    def __init__(self, y: Any, rows: int) -> None:
        if y is None:
            self.texts, self.places = [b""], np.zeros(rows, np.uint32)
            return
        column = np.asarray(y)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.shape != (rows,):
            raise UsageError(f"y has the shape {column.shape}, and there are {rows} rows")
        if column.dtype.kind == "O":
            spelled = {value: _spelled(value) for value in dict.fromkeys(column.tolist())}
            self.texts = list(dict.fromkeys(spelled.values()))
            place = {text: number for number, text in enumerate(self.texts)}
            self.places = np.array([place[spelled[value]] for value in column.tolist()], np.uint32)
        else:
            distinct, places = np.unique(column, return_inverse=True)
            self.texts = [_spelled(value) for value in distinct.tolist()]
            self.places = places.astype(np.uint32)

    def of(self, begin: int, end: int) -> tuple[NDArray[np.uint32], list[bytes]]:
        """Those of a chunk, with a table of no more than it needs."""
        used, places = np.unique(self.places[begin:end], return_inverse=True)
        return places.astype(np.uint32), [self.texts[place] for place in used.tolist()]


class ArraySource(RowSource):
    """The rows of arrays."""

    def __init__(
        self,
        entries_of: Callable[[int, int], CsrArrays],
        rows: int,
        *,
        chunk: int = _ROWS,
        y: Any = None,
        weights: Any = None,
        names: Sequence[str | bytes] | None = None,
        name: str = "<arrays>",
    ) -> None:
        self.name = name
        self.form = "libsvm" if names is None else "pairs"
        self._entries_of = entries_of
        self._rows = rows
        self._chunk = max(1, min(chunk, _ROWS))
        self._labels = RowLabels(y, rows)
        self._weights = row_weights(weights, rows)
        self._builder = ArrayRows(None if names is None else [_name(text) for text in names])

    def rows(self) -> Iterator[Rows]:
        """One pass, chunk by chunk."""
        for begin in range(0, self._rows, self._chunk):
            yield self._made(begin, min(begin + self._chunk, self._rows))

    def _made(self, begin: int, end: int) -> Rows:
        block = row_block(self.name, end - begin, begin + 1)
        starts, ids, values = self._entries_of(begin, end)
        places, texts = self._labels.of(begin, end)
        weights = None if self._weights is None else self._weights[begin:end]
        batch = Batch()
        self._builder.fill(block.data, batch, self.name, starts, ids, values, places, texts, weights)
        return Rows(block, batch)


def matrix_source(X: Any, y: Any = None, weights: Any = None, names: Any = None) -> ArraySource:
    """Of a scipy matrix or array, or of a dense array of two dimensions."""
    if hasattr(X, "tocsr"):
        csr = X.tocsr()
        rows, columns = csr.shape
        _check_names(names, columns)
        entries = _csr_entries(csr.indptr, csr.indices, csr.data)
        return ArraySource(entries, rows, y=y, weights=weights, names=names)
    dense = np.asarray(X)
    if dense.ndim != 2:
        raise UsageError(
            f"expected an array of rows and columns, got one of shape {dense.shape}",
            hint="one row: X.reshape(1, -1), one column: X.reshape(-1, 1)",
        )
    rows, columns = dense.shape
    _check_names(names, columns)
    _check_numbers(dense)

    def entries_of(begin: int, end: int) -> CsrArrays:
        part = _float32(dense[begin:end])
        row, column = np.nonzero(part)
        starts = np.searchsorted(row, np.arange(end - begin + 1)).astype(np.uint64)
        return starts, column.astype(np.uint64), np.ascontiguousarray(part[row, column])

    chunk = _CELLS // max(columns, 1)
    return ArraySource(entries_of, rows, chunk=chunk, y=y, weights=weights, names=names)


def ids_source(parts: tuple[Any, ...], y: Any = None, weights: Any = None) -> ArraySource:
    """Of (ids, values, indptr), or of (ids, values) with a row of each for every row."""
    if len(parts) == 2:
        parts = _flattened(*parts)
    ids, values, indptr = (np.asarray(part) for part in parts)
    if ids.ndim != 1 or ids.shape != values.shape or indptr.ndim != 1 or not len(indptr):
        raise UsageError(
            f"ids, values and indptr of the shapes {ids.shape}, {values.shape} and {indptr.shape} "
            "do not fit together",
            hint="ids and values have one entry each, indptr says where rows begin and the last one ends",
        )
    entries = _csr_entries(indptr, ids, values)
    return ArraySource(entries, len(indptr) - 1, y=y, weights=weights)


def _csr_entries(indptr: Any, ids: Any, values: Any) -> Callable[[int, int], CsrArrays]:
    starts = _unsigned(indptr, "indptr")
    if (len(starts) and (starts[0] != 0 or int(starts[-1]) != len(ids))) or (starts[1:] < starts[:-1]).any():
        raise UsageError("indptr does not go from 0 to the number of entries")
    keys = _unsigned(ids, "ids")
    _check_numbers(values)

    def entries_of(begin: int, end: int) -> CsrArrays:
        first, last = int(starts[begin]), int(starts[end])
        part = starts[begin : end + 1] - starts[begin]
        return part, np.ascontiguousarray(keys[first:last]), _float32(values[first:last])

    return entries_of


def _flattened(ids: Any, values: Any) -> tuple[Any, ...]:
    rows = [np.asarray(row) for row in ids], [np.asarray(row) for row in values]
    sizes = [[row.size for row in part] for part in rows]
    if sizes[0] != sizes[1] or any(row.ndim != 1 for part in rows for row in part):
        raise UsageError(
            "(ids, values) has an array of ids and one of values for every row",
            hint="all entries in one array go with where rows begin: (ids, values, indptr)",
        )
    starts = np.concatenate([[0], np.cumsum(sizes[0], dtype=np.int64)])
    return (*(np.concatenate(part) if part else np.empty(0, np.uint64) for part in rows), starts)


def _unsigned(numbers: Any, what: str) -> NDArray[np.uint64]:
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu" and array.size:
        raise UsageError(f"{what} are whole numbers, got {array.dtype}")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        raise UsageError(f"{what} are numbers from 0 on, and there is {array.min()}")
    return np.ascontiguousarray(array, dtype=np.uint64)


def _float32(values: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what is beyond becomes infinite, and is reported with its row
        return np.ascontiguousarray(values, dtype=np.float32)


def _check_numbers(array: Any) -> None:
    if np.asarray(array).dtype.kind not in "fiub":
        raise UsageError(f"expected numbers, got {array.dtype}", hint="words become features in --format csv")


def _check_names(names: Any, columns: int) -> None:
    if names is not None and len(names) != columns:
        raise UsageError(f"{len(names)} names for {columns} columns")


def row_weights(weights: Any, rows: int) -> NDArray[np.float32] | None:
    """One weight a row, if there are any."""
    if weights is None:
        return None
    try:
        column = np.ascontiguousarray(weights, dtype=np.float32)
    except (TypeError, ValueError):
        raise UsageError("weights are not numbers", hint="one number from 0 on for each row") from None
    if column.shape != (rows,):
        raise UsageError(f"weights have the shape {column.shape}, and there are {rows} rows")
    return column


def _name(name: str | bytes) -> bytes:
    try:
        return name if isinstance(name, bytes) else to_bytes(str(name))
    except UnicodeEncodeError:
        raise UsageError(
            f"the name {name!r} holds half of a letter", hint="give such names as bytes"
        ) from None


def _spelled(label: Any) -> bytes:
    """A label as a file would have it."""
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return b""
    if isinstance(label, bytes):
        return label.strip()
    if isinstance(label, bool | np.bool_):
        return b"1" if label else b"0"
    return to_bytes(str(label)).strip()

"""Rows: what the parsers saw of a run of records, as arrays.

A RowSource gives the rows of something that is no text: arrays, a columnar file, rows read before.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from fsstream.errors import UsageError
from fsstream.kmers import shown_kmers
from fsstream.numerics import np
from fsstream.pipeline import Parsed
from fsstream.sources import Block
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from fsstream.formats.options import FormatOptions
    from fsstream.sources import Position

_LARGEST_COLUMN = 2**63 - 1  # scipy's indices are signed


@dataclass(eq=False, repr=False)
class Rows(Parsed):
    """Some rows of a stream, in compressed sparse form. Arrays are read-only views, made once.

    Entry j of row i has place `starts[i] + j` in `ids`, `values` and `names`.

    >>> import fsstream
    >>> [rows] = fsstream.read([b"spam free:2 money:1\\nham re:1\\n"], format="pairs")
    >>> len(rows), rows.labels, rows.names
    (2, ['spam', 'ham'], ['free', 'money', 're'])
    >>> rows.values.tolist(), rows.starts.tolist()
    ([2.0, 1.0, 1.0], [0, 2, 3])
    """

    table: Any = None  # the Arrow record batch they were made of, from a source that was asked for it
    kmers: tuple[int, bool] | None = None  # when features are k-mers: their length, and whether canonical

    def __len__(self) -> int:
        return self.batch.rows

    def __repr__(self) -> str:
        return f"<{len(self)} rows with {self.batch.entries} entries of {self.source}>"

    @property
    def source(self) -> str:
        """Where they come from, as messages name it."""
        return self.block.source

    @property
    def labels(self) -> list[str]:
        """As written; empty where a row has none."""
        return [to_text(label) for label in self.batch.labels()]

    @property
    def starts(self) -> NDArray[np.uint64]:
        """Where each row begins among the entries, and the end of the last one."""
        return self.batch.row_starts

    @property
    def ids(self) -> NDArray[np.uint64]:
        """The identity of the feature of each entry: the number it is named by, else a hash of the name."""
        return self.batch.keys

    @property
    def values(self) -> NDArray[np.float32]:
        """The value of each entry."""
        return self.batch.values

    @property
    def names(self) -> list[str]:
        """The name of the feature of each entry, as a selection spells it."""
        return [to_text(name) for name in self.batch.names()]

    @property
    def weights(self) -> NDArray[np.float32]:
        """How much each row counts."""
        return self.batch.importance

    @property
    def tags(self) -> list[str] | None:
        """The tag of each row, in a format that has them."""
        tags = self.batch.tags()
        return [to_text(tag) for tag in tags] if tags else None

    def to_csr(self, bits: int | None = None) -> csr_array[Any]:
        """The rows as a scipy matrix whose columns are ids, with `bits` their lowest bits alone.

        >>> import fsstream
        >>> [rows] = fsstream.read([b"1 7:2 4294967299:1\\n"], format="libsvm")
        >>> rows.to_csr().indices.tolist(), rows.to_csr(bits=4).toarray()[0].tolist()[:8]
        ([7, 4294967299], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0])
        """
        from scipy.sparse import csr_array

        if bits is not None and not 1 <= bits <= 62:
            raise UsageError(f"bits={bits}: expected a number from 1 to 62")
        ids = self.ids if bits is None else self.ids & np.uint64((1 << bits) - 1)
        largest = int(ids.max()) if len(ids) else 0
        if largest >= _LARGEST_COLUMN:
            raise UsageError(
                f"the id {largest} is beyond scipy's columns", hint="names are hashed to 64 bits: say bits=20"
            )
        columns = largest + 1 if bits is None else 1 << bits
        matrix = csr_array(
            (self.values.copy(), ids.astype(np.int64), self.starts.astype(np.int64)),
            shape=(len(self), columns),
        )
        matrix.sum_duplicates()  # ids that fold onto one column
        return matrix

    def copy(self) -> Rows:
        """The same rows, whose targets and weights may be changed."""
        return Rows(self.block, self.batch.copy(), kmers=self.kmers)


class RowSource(ABC):
    """Rows that do not have to be parsed from text; what `Input` is for text."""

    name: str  # what messages call it
    form: str  # the format that reads such rows another day
    rereadable = True  # whether another pass gives the same rows

    @abstractmethod
    def rows(self) -> Iterator[Rows]:
        """One pass; the rows are the taker's to change."""

    def rows_from(self, start: Position, *, skip: bool) -> Iterator[Rows]:
        """One pass from a place on, or with what lies before it; of sources whose rows have places."""
        raise UsageError(f"{self.name}: these rows have no place to go on from")

    @property
    def names(self) -> list[str]:
        """The names of its parts."""
        return [self.name]

    def settle(self, options: FormatOptions) -> FormatOptions:
        """Take what is said about columns, and tell what was decided; called before the first pass."""
        given = options.label_column or options.numeric or options.categorical or options.missing
        if given and options.needs_labels:
            raise UsageError(
                "label_column, numeric, categorical and missing are of tables", hint="arrays come with y"
            )
        return options

    def progress(self) -> tuple[int, int | None]:
        """Bytes of this pass read from files, and of how many."""
        return 0, None

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Let go of files."""


class GivenRows(RowSource):
    """Rows that somebody has read or made: a run of them once, a collection again."""

    name = "<rows>"

    def __init__(self, given: Iterable[Rows]) -> None:
        self.rereadable = isinstance(given, list | tuple)
        self._given = given if self.rereadable else iter(given)
        first = next(iter(self._given), None)
        self._ahead = [] if self.rereadable or first is None else [first]
        self._kmers = first.kmers if isinstance(first, Rows) else None
        named = isinstance(first, Rows) and first.batch.named
        self.form = "seq" if self._kmers is not None else "pairs" if named else "libsvm"

    def settle(self, options: FormatOptions) -> FormatOptions:
        """What they were read as is theirs to say."""
        kmer, canonical = self._kmers or (None, None)
        return dataclasses.replace(super().settle(options), kmer=kmer, canonical=canonical)

    def rows(self) -> Iterator[Rows]:
        """Copies: what a run does to weights stays its own."""
        ahead, self._ahead = self._ahead, []
        for rows in chain(ahead, self._given):
            if not isinstance(rows, Rows):
                raise UsageError(f"expected rows as `fsstream.read` gives them, got {type(rows).__name__}")
            if rows.kmers != self._kmers:
                theirs, ours = (shown_kmers(*(kmers or (None, None))) for kmers in (rows.kmers, self._kmers))
                raise UsageError(f"the features of some rows are {theirs}, and those of others {ours}")
            yield rows.copy()


def row_block(source: str, rows: int, first_row: int) -> Block:
    """The place of rows that have no text: a line feed each, so that lines count rows."""
    return Block(source, memoryview(b"\n" * rows), first_row, first_row - 1)

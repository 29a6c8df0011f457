"""Text of each format from rows reduced to some features.

In: a target format, the features to keep, and how the input is read. Out: a native writer and the text
that comes before the first row. What a feature is called in the target is spelled here, once; a name
that has no spelling there is an error before any row is read.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsstream import _native
from fsstream.config import KMER_FORMATS, TEXT_TABLES
from fsstream.errors import UsageError
from fsstream.formats.jsonl import LABEL_KEY
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsstream._native import RowWriter
    from fsstream.formats.options import FormatOptions

_BLANKS = frozenset(b" \t\n\v\f\r\0")


@dataclass(frozen=True)
class Kept:
    """The features to keep: keys, names as in the input, and the names they are written under."""

    keys: NDArray[np.uint64]
    names: Sequence[bytes]
    written: Sequence[bytes]

    @property
    def renamed(self) -> bool:
        """Whether they are numbered instead of named."""
        return self.written is not self.names


@dataclass(frozen=True)
class Source:
    """The format the rows come from and how it is read."""

    format: str
    options: FormatOptions


def without_place(names: Sequence[bytes], source: Source) -> list[bytes]:
    """The names that no row of the source can have, as it is read."""
    if source.format in TEXT_TABLES:
        columns = dict(source.options.columns)
        return [name for name in names if _cell(name, columns) is None]
    if source.format == "libsvm":
        return [name for name in names if not (name.isdigit() and b"%d" % int(name) == name)]
    if source.format == "tokens":
        return [name for name in names if len(name.split(b" ")) > source.options.ngrams]
    if source.format in ("pairs", "vw"):
        return [name for name in names if not _BLANKS.isdisjoint(name)]
    return []


def make_writer(target: str, kept: Kept, source: Source) -> tuple[bytes, RowWriter]:
    """The first bytes of the output, and what writes the rows."""
    if (target == "columns") != (source.format == "columns"):
        raise UsageError(
            f"--to {target} is no form of {source.format} rows",
            hint="the lines of columns are features: they stay columns, and nothing else becomes them",
        )
    if target in KMER_FORMATS:
        return b"", _sequences(target, kept, source)
    if target in TEXT_TABLES:
        return _table(target, kept, source)
    if target == "vw":
        return b"", _vw(kept)
    if target == "jsonl":
        return b"", _json(kept, source)
    return b"", _lines(target, kept, source)


def _lines(target: str, kept: Kept, source: Source) -> RowWriter:
    for name in kept.written:
        if target == "libsvm" and not (name.isdigit() and int(name) < 1 << 64):
            raise _unspeakable(target, name, "a number below 2^64", "--names FILE numbers the features")
        if not name or not _BLANKS.isdisjoint(name):
            raise _unspeakable(target, name, "one word", "--to jsonl, or --names FILE to number the features")
    before, behind = (b"", b"") if target == "columns" else (b" ", b"" if target == "tokens" else b":")
    pieces = [before + name + behind for name in kept.written]
    keeps_query = target == source.format == "libsvm"
    return _native.line_writer(target, kept.keys, pieces, keeps_query=keeps_query)


def _vw(kept: Kept) -> RowWriter:
    spaces = {b"": 0}
    pieces, space_of = [], []
    for name in kept.written:
        space, mark, feature = name.partition(b"^")
        if not (space and mark and feature):
            space, feature = b"", name
        if not feature or not _BLANKS.isdisjoint(name) or b":" in name or b"|" in name:
            hint = "names in vw have no white space, ':' and '|': --names FILE numbers the features"
            raise _unspeakable("vw", name, "a vw name", hint)
        space_of.append(spaces.setdefault(space, len(spaces)))
        pieces.append(b" " + feature)
    return _native.vw_writer(kept.keys, pieces, list(spaces), space_of)


def _json(kept: Kept, source: Source) -> RowWriter:
    label = (source.options.label_column if source.format == "jsonl" else None) or LABEL_KEY
    for name in kept.written:
        if name == to_bytes(label):
            raise _unspeakable(
                "jsonl", name, "another name than the label's", "--names FILE numbers features"
            )
        try:
            name.decode()
        except UnicodeDecodeError:
            raise _unspeakable("jsonl", name, "UTF-8", "--names FILE numbers the features") from None
    pieces = [json.dumps(name.decode(), ensure_ascii=False).encode() + b":" for name in kept.written]
    return _native.json_writer(kept.keys, pieces, json.dumps(label, ensure_ascii=False).encode() + b":")


def _sequences(target: str, kept: Kept, source: Source) -> RowWriter:
    if source.format not in KMER_FORMATS or kept.renamed:
        raise UsageError(
            f"--to {target} writes k-mers under their letters", hint="--to pairs takes any names"
        )
    if target not in ("seq", source.format):
        raise UsageError(f"--to {target} needs the headers of {target} input", hint="--to seq has none")
    return _native.sequence_writer(target, kept.keys, list(kept.written))


def _table(target: str, kept: Kept, source: Source) -> tuple[bytes, RowWriter]:
    """From a table, its columns of which something is kept; from anything else a column a feature."""
    in_table = source.format in TEXT_TABLES and not kept.renamed
    known = dict(source.options.columns) if source.format in TEXT_TABLES else {}
    labelled = "label" in known.values() if known else True
    label = next((name for name, kind in known.items() if kind == "label"), b"label")
    columns: dict[bytes, int] = {}
    places, keys, cells = [], [], []
    for key, name in zip(kept.keys, kept.written, strict=True):
        found = _cell(name, known) if in_table else (name, None)
        if found is None:
            continue
        column, word = found
        if labelled and column == label:
            raise _unspeakable(target, name, "another name than the label's", "--names FILE numbers features")
        places.append(columns.setdefault(column, len(columns)))
        keys.append(key)
        cells.append(b"" if word is None else _spelled_cell(target, word))
    order = {name: place for place, name in enumerate(known)} if in_table else {}
    names = sorted(columns, key=lambda name: order.get(name, 0))
    renumbered = {columns[name]: place for place, name in enumerate(names)}
    header = [label, *names] if labelled else names
    line = (b"\t" if target == "tsv" else b",").join(_spelled_cell(target, name) for name in header)
    writer = _native.table_writer(
        target,
        np.array(keys, np.uint64),
        [renumbered[place] for place in places],
        cells,
        len(names),
        labelled=labelled,
    )
    return line + b"\n", writer


def _cell(name: bytes, columns: dict[bytes, str]) -> tuple[bytes, bytes | None] | None:
    """The column of a feature, and its word where the column holds words; None: not of this table."""
    if columns.get(name) == "numeric":
        return name, None
    parts = [column for column, kind in columns.items() if kind == "categorical"]
    fitting = [column for column in parts if name.startswith(column + b"=")]
    if not fitting:
        return None
    column = max(fitting, key=len)
    return column, name[len(column) + 1 :]


def _spelled_cell(target: str, text: bytes) -> bytes:
    if target == "tsv":
        if not {*b"\t\n\r"}.isdisjoint(text):
            raise _unspeakable(target, text, "no tab and no line end", "--to csv has quotes")
        return text
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([to_text(text), ""])
    return to_bytes(out.getvalue().removesuffix(","))


def _unspeakable(target: str, name: bytes, expected: str, hint: str) -> UsageError:
    return UsageError(f"--to {target}: expected {expected}, got the feature {to_text(name)!a}", hint=hint)

"""What csv and tsv share: the columns of a table, settled from the options and the first records.

In: the options and the bytes of the first records. Out: options that name every column's kind, so that
the same options read the next file, another day, in the same way.

A header is the first record of each input (the parser is told where an input begins), and every input
must have the first one's.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from fsstream._native import CsvParser, column_names, numeric_columns
from fsstream.errors import DataError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from fsstream.formats.options import FormatOptions

INFERENCE_RECORDS = 10_000


def settle(form: str, options: FormatOptions, prefix: Buffer, source: str) -> FormatOptions:
    """Decide the kind of every column of the input that begins with `prefix` (whole records).

    The label is `--label-column`, else the column named `label`, else the first one. A column that
    neither `--numeric` nor `--categorical` names is numeric when every cell in the first 10,000
    records that is not empty is a plain decimal.
    """
    names = _names(form, options, prefix, source)
    label = _label(options, names)
    numeric = _find_all("--numeric", options.numeric, names, options)
    categorical = _find_all("--categorical", options.categorical, names, options)
    _refuse_two_kinds(names, label, numeric, categorical)
    inferred = numeric_columns(prefix, form, options.header, len(names), INFERENCE_RECORDS)
    kinds = ["numeric" if is_numeric else "categorical" for is_numeric in inferred]
    for columns, kind in ((numeric, "numeric"), (categorical, "categorical"), (label, "label")):
        for column in columns:
            kinds[column] = kind
    columns = tuple(zip(names, kinds, strict=True))

    def named(kind: str) -> tuple[str, ...]:
        return tuple(_shown(name) for name, its_kind in columns if its_kind == kind)

    return dataclasses.replace(
        options,
        label_column=next(iter(named("label")), options.label_column),
        numeric=named("numeric"),
        categorical=named("categorical"),
        columns=columns,
    )


def parser(form: str, options: FormatOptions) -> CsvParser:
    """The native parser for settled options."""
    if not options.columns:
        raise ValueError("the columns are not settled yet")
    return CsvParser(form, options.header, list(options.columns))


def _names(form: str, options: FormatOptions, prefix: Buffer, source: str) -> list[bytes]:
    names, wrong = column_names(prefix, form, options.header)
    if wrong is not None:
        offset, expected, hint = wrong
        before = bytes(memoryview(prefix)[:offset])
        raise DataError(
            f"expected {expected}",
            path=source,
            line=1 + before.count(b"\n"),
            column=offset - before.rfind(b"\n"),
            hint=hint,
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"two columns are named {_shown(twice[0])!r}", path=source, line=1, hint="names must differ"
        )
    return names


def _label(options: FormatOptions, names: list[bytes]) -> list[int]:
    if options.label_column is not None:
        return _find_all("--label-column", (options.label_column,), names, options)
    return [names.index(b"label")] if b"label" in names else [0][: len(names)]


def _find_all(option: str, wanted: tuple[str, ...], names: list[bytes], options: FormatOptions) -> list[int]:
    """The columns that are meant, each by its name or, where none has that name, its number from 1."""
    places = {_shown(name): place for place, name in enumerate(names)}
    found: list[int] = []
    for column in wanted:
        if column in places:
            found.append(places[column])
        elif column.isascii() and column.isdigit() and 1 <= int(column) <= len(names):
            found.append(int(column) - 1)
        elif options.needs_labels:
            some = ", ".join(list(places)[:8]) + (", ..." if len(places) > 8 else "")
            raise UsageError(f"{option} {column}: there is no such column", hint=f"the columns are {some}")
    return found


def _refuse_two_kinds(names: list[bytes], *kinds: list[int]) -> None:
    counted = Counter(column for kind in kinds for column in set(kind))
    for column, count in counted.items():
        if count > 1:
            raise UsageError(f"column {_shown(names[column])!r} is given two kinds")


def _shown(name: bytes) -> str:
    """A name as text; what is not UTF-8 in it can be turned back."""
    return name.decode(errors="surrogateescape")

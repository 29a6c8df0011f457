"""What csv and tsv share: the columns of a table, settled from the options and the first records.

In: the options and the bytes of the first records. Out: options that name every column's kind, so that
the same options read the next file, another day, in the same way.

A header is the first record of each input (the parser is told where an input begins), and every input
must have the first one's.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from fsstream._native import CsvParser, column_names, numeric_columns
from fsstream.errors import DataError, UsageError, no_data
from fsstream.sources import PEEK_RECORDS
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.formats.options import FormatOptions
    from fsstream.sources import Block

LABEL_COLUMN = "--label-column"  # the one option that means one column
_GLANCE = 1 << 21  # bytes that are looked at for a doubt
_TELLING, _FEW = 20, 0.2  # cells that say something; share of those that are no plain numbers
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_NUMBER = re.compile(_PLAIN.pattern + r"([eE][+-]?\d+)?")
_NO_VALUE = frozenset(["na", "n/a", "nan", "null", "none", "nil", "?", ".", "-", "--", "missing", "unknown"])


def settle(form: str, options: FormatOptions, beginning: Sequence[Block]) -> FormatOptions:
    """Decide the kind of every column of the stream whose first records are given, a Block a source.

    The label is `--label-column`, else the column named `label`, else the first one. A column that
    neither `--numeric` nor `--categorical` names is numeric when every cell in the first 10,000
    records that is not empty is a plain decimal.
    """
    if not beginning:
        raise no_data()
    names = _names(form, options, beginning[0])
    label = _label(options, names)
    numeric = find_all("--numeric", options.numeric, names, options)
    categorical = find_all("--categorical", options.categorical, names, options)
    _refuse_two_kinds(names, label, numeric, categorical)
    kinds = _inferred(form, options, beginning, len(names))
    for places, kind in ((numeric, "numeric"), (categorical, "categorical"), (label, "label")):
        for place in places:
            kinds[place] = kind
    columns = tuple(zip(names, kinds, strict=True))

    def named(kind: str) -> tuple[str, ...]:
        return tuple(to_text(name) for name, its_kind in columns if its_kind == kind)

    return dataclasses.replace(
        options,
        label_column=next(iter(named("label")), options.label_column),
        numeric=named("numeric"),
        categorical=named("categorical"),
        columns=columns,
    )


def doubt(form: str, named: Sequence[str], options: FormatOptions, first: Block) -> str | None:
    """What to tell of columns that are words by the rule, and whose cells are nearly all numbers.

    Those that the user has named are not doubted.
    """
    records = _glance(form, first)[not options.no_header : -1]
    doubtful: dict[int, list[str]] = {}  # and the cells that are no plain decimals
    for place, (name, kind) in enumerate(options.columns):
        cells = [record[place] for record in records if len(record) > place and record[place]]
        cells = [cell for cell in cells if cell.strip() not in options.missing]
        if kind != "categorical" or to_text(name) in named or len(cells) < _TELLING:
            continue
        others = [cell for cell in cells if not _PLAIN.fullmatch(cell.strip())]
        if len(others) < _FEW * len(cells):
            doubtful[place] = others
    if not doubtful:
        return None
    names = [to_text(options.columns[place][0]) for place in doubtful]
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    cause = next((cell for others in doubtful.values() for cell in others), None)
    why = f"cells like {cause!a}" if cause is not None else "others among the first 10,000"
    advice = _advice(options, doubtful)
    return f"nearly all cells of {some} are numbers, and are read as words because of {why}: {advice}"


def _advice(options: FormatOptions, doubtful: dict[int, list[str]]) -> str:
    """The options that make numbers of the columns: all of these, and none at which the next cell fails."""
    no_values: list[str] = []
    numbers: list[int] = []  # columns that hold nothing else
    exponents: list[int] = []  # of these the ones that --missing alone does not mend
    for place, others in doubtful.items():
        cells = dict.fromkeys(cell.strip() for cell in others)
        words = [cell for cell in cells if not _NUMBER.fullmatch(cell)]
        if all(word.casefold() in _NO_VALUE for word in words):
            no_values += [word for word in words if word not in no_values]
            numbers.append(place)
            exponents += [place] if len(words) < len(cells) else []
    advice = [f"--missing {shlex.quote(word)}" for word in no_values]
    named = exponents if no_values else numbers
    if named:
        advice.append("--numeric " + shlex.quote(",".join(_called(options, place) for place in named)))
    if not advice:
        return "--missing TEXT reads such a cell as empty, --categorical COLUMN says that they are words"
    return " ".join(advice) + " reads numbers"


def _called(options: FormatOptions, place: int) -> str:
    """The column, in a list: by its number where its name would not be found there."""
    name = to_text(options.columns[place][0])
    return str(place + 1) if "," in name else name


def _glance(form: str, first: Block) -> list[list[str]]:
    """The cells of the first records; the last of them may be cut."""
    lines = io.StringIO(to_text(bytes(first.data[:_GLANCE])), newline="")
    read = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if form == "tsv" else csv.reader(lines)
    before = csv.field_size_limit(_GLANCE)  # cells may be as long as that, and the limit is the process's
    try:
        return list(read)
    finally:
        csv.field_size_limit(before)


def parser(form: str, options: FormatOptions) -> CsvParser:
    """The native parser for settled options."""
    if not options.columns:
        raise ValueError("the columns are not settled yet")
    return CsvParser(form, not options.no_header, list(options.columns), _missing(options))


def _missing(options: FormatOptions) -> list[bytes]:
    return [to_bytes(cell.strip()) for cell in options.missing]


def _inferred(form: str, options: FormatOptions, beginning: Sequence[Block], columns: int) -> list[str]:
    """What the cells of the first records make of each column."""
    header = not options.no_header
    verdicts = [
        numeric_columns(block.data, form, header, columns, PEEK_RECORDS, _missing(options))
        for block in beginning
    ]
    return ["numeric" if all(column) else "categorical" for column in zip(*verdicts, strict=True)]


def _names(form: str, options: FormatOptions, first: Block) -> list[bytes]:
    names, wrong = column_names(first.data, form, not options.no_header)
    if wrong is not None:
        offset, expected, hint = wrong
        place = {"line": first.line_at(offset), "column": first.column_at(offset)}
        raise DataError(f"expected {expected}", path=first.source, hint=hint, **place)
    if not names:
        raise no_data()
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"two columns are named {to_text(twice[0])!r}",
            path=first.source,
            line=1,
            hint="names must differ",
        )
    return names


def _label(options: FormatOptions, names: list[bytes]) -> list[int]:
    if options.label_column is not None:
        return find_all(LABEL_COLUMN, (options.label_column,), names, options)
    return [names.index(b"label")] if b"label" in names else [0][: len(names)]


def find_all(option: str, wanted: tuple[str, ...], names: list[bytes], options: FormatOptions) -> list[int]:
    """The columns that are meant, each by its name or, where none has that name, its number from 1.

    In training several may stand in one text, parted by commas: one that is the name of a column is that.
    """
    places = {to_text(name): place for place, name in enumerate(names)}

    def place_of(column: str) -> int | None:
        is_number = column.isascii() and column.isdigit() and 1 <= int(column) <= len(names)
        return places.get(column, int(column) - 1 if is_number else None)

    found: list[int] = []
    for text in wanted:
        one = place_of(text) is not None or not options.needs_labels or option == LABEL_COLUMN
        for column in [text] if one else text.split(","):
            place = place_of(column)
            if place is not None:
                found.append(place)
            elif options.needs_labels:
                some = ", ".join(list(places)[:8]) + (", ..." if len(places) > 8 else "")
                raise UsageError(
                    f"{option} {column}: there is no such column", hint=f"the columns are {some}"
                )
    return found


def _refuse_two_kinds(names: list[bytes], *kinds: list[int]) -> None:
    counted = Counter(column for kind in kinds for column in set(kind))
    for column, count in counted.items():
        if count > 1:
            raise UsageError(
                f"column {to_text(names[column])!r} is given two kinds",
                hint="a column is the label, or --numeric, or --categorical",
            )

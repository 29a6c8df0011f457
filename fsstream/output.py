"""Selections and predictions as JSON Lines: one buffered write, numbers as short as they round-trip."""

from __future__ import annotations

import csv
import io
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson

from fsstream._native import as_written
from fsstream.errors import DataError, UsageError
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsstream.selection import Selection


_LINE = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE


def json_line(record: dict[str, Any]) -> bytes:
    """One object, one line. Lone surrogates (bytes that are not UTF-8) become escapes."""
    try:
        return orjson.dumps(record, option=_LINE)
    except orjson.JSONEncodeError:
        return json.dumps(record, separators=(",", ":"), default=_plain).encode() + b"\n"


def _plain(number: Any) -> float | int:
    """A number of numpy's, as short as it round-trips."""
    return float(str(number)) if number.dtype.kind == "f" else int(number)


def json_text(record: dict[str, Any]) -> bytes:
    """One object over several lines, for files that people look at too."""
    try:
        return orjson.dumps(record, option=_LINE | orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:
        return json.dumps(record, indent=2, default=_plain).encode() + b"\n"


def first_records(selection: Selection, count: int) -> list[dict[str, Any]]:
    """The records of the first ranks of each class."""
    chosen = selection.ranked()
    return list(
        selection_records(chosen.at([place for place, rank in enumerate(_ranks(chosen)) if rank <= count]))
    )


def selection_records(selection: Selection) -> Iterator[dict[str, Any]]:
    """The records in output order; ranks start at 1 in each class."""
    chosen = selection.ranked()
    columns: dict[str, Sequence[Any]] = {
        "rank": _ranks(chosen),
        "feature": chosen.names,
        "weight": as_written(chosen.raw_weights),
    }
    if chosen.classes is not None:
        columns["class"] = chosen.classes
    if chosen.groups is not None:
        columns["group"] = chosen.groups
    columns |= {key: as_written(column) for key, column in chosen.extra.items()}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _ranks(ranked: Selection) -> Sequence[int]:
    if ranked.classes is None:
        return range(1, len(ranked) + 1)
    return [rank for _, members in groupby(ranked.classes) for rank, _ in enumerate(members, 1)]


def selection_lines(selection: Selection) -> bytes:
    """The selection as JSON Lines."""
    lines = io.BytesIO()  # not a list of lines: orjson's take kilobytes each
    for record in selection_records(selection):
        lines.write(json_line(record))
    return lines.getvalue()


def selection_file(selection: Selection, path: str) -> bytes:
    """The selection in the form its file name asks for: .csv, .parquet, or JSON Lines."""
    if path.endswith(".csv"):
        return _csv(list(selection_records(selection)))
    if path.endswith(".parquet"):
        return _parquet(list(selection_records(selection)))
    return selection_lines(selection)


def check_form(path: str | None) -> None:
    """Before a long run: what the form of the output needs must be there."""
    if path is not None and path.endswith(".parquet"):
        _parquet([])


def _csv(records: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(records[0]) if records else ["rank", "feature", "weight"], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(records)
    return to_bytes(text.getvalue())


def _parquet(records: list[dict[str, Any]]) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "an output named .parquet needs pyarrow", hint="pip install 'fsstream[parquet]'"
        ) from None
    for record in records:
        if not _is_unicode(record["feature"]):
            raise DataError(
                f"the name {record['feature']!a} is not UTF-8, which Parquet cannot hold",
                hint="write JSON Lines or CSV",
            )
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(records)
    parquet.write_table(table.cast(pa.schema([_in_32_bits(pa, field) for field in table.schema])), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _in_32_bits(pa: Any, field: Any) -> Any:
    """Numbers with a fraction are 32-bit floats."""
    return field.with_type(pa.float32()) if pa.types.is_floating(field.type) else field


def _is_unicode(text: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in text)

"""Selections and predictions as JSON Lines: one buffered write, numbers as short as they round-trip."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import orjson

from fsstream.errors import DataError, UsageError
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream.selection import Selection


def json_line(record: dict[str, Any]) -> bytes:
    """One object, one line. Lone surrogates (bytes that are not UTF-8) become escapes."""
    try:
        return orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return json.dumps(record, separators=(",", ":"), default=_plain).encode() + b"\n"


def _plain(number: Any) -> float | int:
    """A number of numpy's, as short as it round-trips."""
    return float(str(number)) if number.dtype.kind == "f" else int(number)


def json_text(record: dict[str, Any]) -> bytes:
    """One object over several lines, for files that people look at too."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(record, option=options)
    except orjson.JSONEncodeError:
        return json.dumps(record, indent=2, default=_plain).encode() + b"\n"


def first_records(selection: Selection, count: int) -> list[dict[str, Any]]:
    """The records of the first ranks."""
    return list(selection_records(selection, count))


def selection_records(selection: Selection, most: int | None = None) -> Iterator[dict[str, Any]]:
    """The records in output order; ranks start at 1 in each class, and end at `most`."""
    names, weights = selection.names, list(selection.weights)
    rank, current = 0, None
    for index in selection.order:
        label = None if selection.classes is None else selection.classes[index]
        rank = rank + 1 if label == current else 1
        current = label
        if most is not None and rank > most:
            if label is None:
                return
            continue
        record: dict[str, Any] = {"rank": rank, "feature": names[index], "weight": weights[index]}
        if label is not None:
            record["class"] = label
        if selection.groups is not None:
            record["group"] = selection.groups[index]
        record |= {key: column[index] for key, column in selection.extra.items()}
        yield record


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
    parquet.write_table(pa.Table.from_pylist(records), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _is_unicode(text: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in text)

"""A selection read back from what `select` wrote: JSON Lines, csv or Parquet; or from a model.

In: a path, or `-` for standard input. Out: a Selection, and the model when it was one.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.errors import CorruptError, DataError, UsageError, opening
from fsstream.model_file import parse_model
from fsstream.selection import Selection
from fsstream.text import to_bytes, to_text, without_mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsstream.model import Model

_ZIP, _PARQUET = b"PK\x03\x04", b"PAR1"


def load_selection(path: str) -> tuple[Selection, Model | None]:
    """What was selected, from whichever file holds it."""
    return parse_selection(read_bytes(path), "<stdin>" if path == "-" else path)


def parse_selection(data: bytes, name: str) -> tuple[Selection, Model | None]:
    """What was selected, in the bytes of a file; `name` is for messages."""
    data = without_mark(data)
    if not data.strip():
        raise DataError(f"{name}: no selection: there is nothing in it", hint="did what wrote it fail?")
    if data.startswith(_ZIP):
        model = parse_model(data, name)
        return model.selection, model
    if data.startswith(_PARQUET):
        return _selection(_parquet_records(data, name), name), None
    if data.lstrip().startswith(b"{"):
        return _selection(_json_records(data, name), name), None
    if b"\0" in data:  # which no text holds, and every model
        raise CorruptError(f"{name}: neither a selection nor a whole model", hint=_HINT)
    return _selection(_csv_records(data, name), name), None


def read_bytes(path: str) -> bytes:
    """All of a file, or of standard input when it is `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    with opening(path):
        return Path(path).read_bytes()


def _selection(records: Iterable[tuple[int, dict[str, Any]]], path: str) -> Selection:
    names, weights = [], []
    classes: list[Any] = []
    groups: list[Any] = []
    for line, record in records:
        try:
            names.append(to_bytes(record["feature"]))
            weights.append(_weight(record.get("weight", 0)))
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
            raise DataError("expected a line of a selection", path=path, line=line, hint=_HINT) from None
        classes.append(record.get("class"))
        groups.append(record.get("group"))
    return Selection(
        names,
        np.array(weights, np.float32),
        None if None in classes else classes,
        None if None in groups else groups,
    )


def _weight(value: Any) -> float:
    weight = float(value)
    if not abs(weight) <= float(np.finfo(np.float32).max):
        raise ValueError("no finite number of 32 bits")
    return weight


_HINT = 'such lines begin like {"rank":1,"feature":"word","weight":0.5}'


def _json_records(data: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)  # not orjson: it refuses the escapes of bytes that are not UTF-8
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise DataError("expected a line of a selection", path=path, line=number, hint=_HINT)
        yield number, record


def _csv_records(data: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(to_text(data), newline=""))
    if "feature" not in (reader.fieldnames or ()):
        raise DataError("expected a selection or a model", path=path, line=1, hint=_HINT)
    for record in reader:
        yield reader.line_num, record


def _parquet_records(data: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "a selection in Parquet needs pyarrow", hint="pip install 'fsstream[parquet]'"
        ) from None
    try:
        records = parquet.read_table(pa.BufferReader(data)).to_pylist()
    except (pa.ArrowException, OSError) as error:
        what = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"not a whole Parquet file: {what}",
            path=path,
            hint="`fsstream select -o FILE.parquet` writes one",
        ) from None
    yield from enumerate(records, start=1)

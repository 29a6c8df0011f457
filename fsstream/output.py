"""Selections and predictions as JSON Lines: one buffered write, numbers as short as they round-trip."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from fsstream.text import to_text

if TYPE_CHECKING:
    from fsstream.selection import Selection


def json_line(record: dict[str, Any]) -> bytes:
    """One object, one line. Lone surrogates (bytes that are not UTF-8) become escapes."""
    try:
        return orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        plain = {key: value.item() if hasattr(value, "item") else value for key, value in record.items()}
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def selection_records(selection: Selection) -> list[dict[str, Any]]:
    """The records in output order; ranks start at 1 in each class."""
    records = []
    rank, current = 0, None
    for index in selection.order:
        label = None if selection.classes is None else selection.classes[index]
        rank = rank + 1 if label == current else 1
        current = label
        record: dict[str, Any] = {
            "rank": rank,
            "feature": to_text(selection.names[index]),
            "weight": selection.weights[index],
        }
        if label is not None:
            record["class"] = label
        if selection.groups is not None:
            record["group"] = selection.groups[index]
        record |= {key: column[index] for key, column in selection.extra.items()}
        records.append(record)
    return records


def selection_lines(selection: Selection) -> bytes:
    """The selection as JSON Lines."""
    return b"".join(map(json_line, selection_records(selection)))

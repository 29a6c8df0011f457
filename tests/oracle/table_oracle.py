"""csv and tsv once more: slow, readable, written from docs/formats.md.

In: text, and the columns with their kinds. Out: its rows, and where its bad records are wrong.
"""

from __future__ import annotations

import numpy as np

from tests.oracle.parse_oracle import (
    LONGEST_NAME,
    BadError,
    Parsed,
    Row,
    add_up,
    is_value,
    label_value,
    read_value,
)

SEPARATORS = {"csv": b",", "tsv": b"\t"}
MARK = b"\xef\xbb\xbf"
Columns = tuple[tuple[bytes, str], ...]


def behind_quotes(text: bytes, at: int) -> int:
    """Behind the quote that closes the cell which opens before this byte; -1 when there is none."""
    while True:
        at = text.find(b'"', at) + 1
        if at == 0 or text[at : at + 1] != b'"':
            return at or -1
        at += 1


def record_end(form: str, text: bytes, at: int) -> int:
    """Of the record that begins here: the line feed outside quotes, else the end; -1 within quotes."""
    while True:
        if form == "csv" and text[at : at + 1] == b'"':
            at = behind_quotes(text, at + 1)
            if at < 0:
                return -1
        while at < len(text) and text[at : at + 1] not in (SEPARATORS[form], b"\n"):
            at += 1
        if text[at : at + 1] != SEPARATORS[form]:
            return at
        at += 1


def read_cell(form: str, record: bytes, at: int) -> tuple[bytes, int]:
    """The text of the cell that begins here, and where it ends."""
    if form == "csv" and record[at : at + 1] == b'"':
        end = behind_quotes(record, at + 1)
        if end < 0:
            raise BadError(at)
        if end < len(record) and record[end : end + 1] != b",":
            raise BadError(end)
        return record[at + 1 : end - 1].replace(b'""', b'"'), end
    end = record.find(SEPARATORS[form], at)
    cell = record[at:] if end < 0 else record[at:end]
    if form == "csv" and b'"' in cell:
        raise BadError(at + cell.index(b'"'))
    return cell, at + len(cell)


def read_record(form: str, record: bytes, columns: Columns) -> Row:
    if b"\0" in record:
        raise BadError(record.index(b"\0"))
    row, at = Row(b"", np.nan, 0, []), 0
    for place, (name, kind) in enumerate(columns):
        if place > 0:
            if at == len(record):
                raise BadError(at)
            at += 1
        begin = at
        cell, at = read_cell(form, record, at)
        trimmed = cell.strip(b" \t\n\v\f\r")
        if kind == "label":
            row.label, row.label_value = trimmed, label_value(trimmed)
        elif kind == "numeric" and trimmed:
            if not is_value(trimmed):
                raise BadError(begin)
            row.entries.append((name, read_value(trimmed, 0)[0]))
        elif kind == "categorical" and cell:
            if len(name) + 1 + len(cell) > LONGEST_NAME:
                raise BadError(begin)
            row.entries.append((name + b"=" + cell, np.float32(1)))
    if at != len(record):
        raise BadError(at)
    row.entries = add_up(row.entries, 0)
    return row


def parse(form: str, text: bytes, columns: Columns) -> Parsed:
    """All records of a text; bad ones are passed over and noted."""
    parsed, at = Parsed(), 0
    while at < len(text):
        at += len(MARK) if text.startswith(MARK, at) else 0
        end = record_end(form, text, at)
        record = text[at:] if end < 0 else text[at:end].removesuffix(b"\r")
        try:
            if record:
                row = read_record(form, record, columns)
                row.record = at
                parsed.rows.append(row)
        except BadError as bad:
            parsed.bad.append((at, len(record.removesuffix(b"\r")), at + bad.at))
        at = len(text) if end < 0 else end + 1
    return parsed

"""What the tests of parsers share: a batch as rows, and a text as a reader's blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import key_of_name
from fsstream.formats import format_named

if TYPE_CHECKING:
    from fsstream._native import Batch

Row = tuple[bytes, dict[bytes, float]]


def rows(batch: Batch) -> list[Row]:
    """The label and the named values of each row."""
    starts, names, values = batch.row_starts, batch.names(), batch.values.tolist()
    return [
        (label, dict(zip(names[a:b], values[a:b], strict=True)))
        for label, a, b in zip(batch.labels(), starts[:-1], starts[1:], strict=True)
    ]


def rows_of_names(batch: Batch) -> list[Row]:
    """The same; and the keys are those of the names."""
    assert batch.keys.tolist() == [key_of_name(name) for name in batch.names()]
    return rows(batch)


def parts(name: str, text: bytes, size: int) -> list[bytes]:
    """What a reader with a buffer of `size` bytes hands over, one block of whole records after the other."""
    head = format_named(name).head
    blocks, begin, room = [], 0, size
    while begin < len(text):
        final = begin + room >= len(text)
        whole = head(memoryview(text)[begin : begin + room], final)
        if whole:
            blocks.append(text[begin : begin + whole])
        begin, room = begin + whole, size if whole else room + size
    return blocks

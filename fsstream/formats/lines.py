"""Formats of one record a line: a record ends at its line feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import lines_end

if TYPE_CHECKING:
    from typing_extensions import Buffer


def head(data: Buffer, final: bool) -> int:
    """Bytes up to the end of the last whole line; all of them when nothing follows."""
    return len(memoryview(data)) if final else lines_end(data)

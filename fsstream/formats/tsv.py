"""tsv: cells between tabs, no quotes; columns with a type each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import table_head, take_records
from fsstream.formats import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from fsstream._native import CsvParser
    from fsstream.formats.options import FormatOptions
    from fsstream.sources import Block


def head(data: Buffer, final: bool) -> int:
    """Bytes up to the end of the last whole record; all of them when nothing follows."""
    return len(memoryview(data)) if final else table_head(data, "tsv")


def take(data: Buffer, records: int) -> tuple[int, int]:
    """At most so many whole records at the front: their number, their bytes."""
    return take_records("tsv", data, records)


def settle(options: FormatOptions, beginning: Sequence[Block]) -> FormatOptions:
    """The options with a kind for every column, from the first records: see `tables.settle`."""
    return tables.settle("tsv", options, beginning)


def parser(options: FormatOptions) -> CsvParser:
    """The native parser for settled options."""
    return tables.parser("tsv", options)

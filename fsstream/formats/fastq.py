"""FASTQ: four lines a record, `@id`, sequence, `+`, quality; one row a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import FastqParser, fastq_head, take_records
from fsstream.formats.sequences import kmer_options

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from fsstream.formats.options import FormatOptions


def head(data: Buffer, final: bool) -> int:
    """Bytes up to the end of the last whole record; all of them when nothing follows."""
    return len(memoryview(data)) if final else fastq_head(data)


def take(data: Buffer, records: int) -> tuple[int, int]:
    """At most so many whole records at the front: their number, their bytes."""
    return take_records("fastq", data, records)


def parser(options: FormatOptions) -> FastqParser:
    """The native parser; labels come from the table of `--labels` or the headers."""
    kmer, canonical = kmer_options(options)
    return FastqParser(kmer, canonical, options.labels)

"""The one table of formats: name -> module.

Each module is two functions: `head(data, final)`, how many bytes of `data` are whole records
(with `final`, nothing follows: all of them), and `parser(options)`, the native parser of it. Formats
that have to see records before they can be parsed also have `settle(options, beginning)`, formats of
records that are more than one line `take(data, records)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from fsstream._native import FilteredParser, NormalizedParser, count_fields
from fsstream.sources.blocks import BLOCK_BYTES
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Buffer

    from fsstream._native import Parser
    from fsstream.formats.options import FormatOptions
    from fsstream.sources import Block

# Imported on first use, so that `fsstream --help` stays fast.
FORMATS = {
    "libsvm": "fsstream.formats.libsvm",
    "seq": "fsstream.formats.seq",
    "fasta": "fsstream.formats.fasta",
    "fastq": "fsstream.formats.fastq",
    "pairs": "fsstream.formats.pairs",
    "tokens": "fsstream.formats.tokens",
    "vw": "fsstream.formats.vw",
    "columns": "fsstream.formats.columns",
    "csv": "fsstream.formats.csv",
    "tsv": "fsstream.formats.tsv",
    "jsonl": "fsstream.formats.jsonl",
}
_BLANKS = b" \t\n\v\f\r"
# What stands between two features, where that is no blank; nothing where each letter may begin one.
_SEPARATORS = {"jsonl": b",\n", "csv": b",\n", "tsv": b"\t\n", "seq": b"", "fasta": b"", "fastq": b""}


class Format(Protocol):
    """What a module of this package offers."""

    def head(self, data: Buffer, final: bool) -> int:
        """Bytes up to the end of the last whole record of `data`; 0 when there is none."""

    def parser(self, options: FormatOptions) -> Parser:
        """A new native parser; one per thread."""


def format_named(name: str) -> Format:
    """The module of a format; KeyError when there is none of that name."""
    return cast("Format", import_module(FORMATS[name]))


def block_bytes(name: str) -> int:
    """What to read at once: a letter of a sequence is a number in its batch, else some ten of them are."""
    return BLOCK_BYTES // 16 if _SEPARATORS.get(name) == b"" else BLOCK_BYTES


def make_parser(name: str, options: FormatOptions) -> Parser:
    """A new parser of the format; its rows hold what `--keep` and `--ignore` leave, scaled as asked."""
    parser = format_named(name).parser(options)
    if options.keep or options.ignore:
        keep = [to_bytes(pattern) for pattern in options.keep]
        ignore = [to_bytes(pattern) for pattern in options.ignore]
        parser = FilteredParser(parser, keep, ignore, rows_are_features=name == "columns")
    return NormalizedParser(parser) if options.normalize == "l2" else parser


def most_entries(name: str, options: FormatOptions, data: Buffer) -> int:
    """No fewer than the features that the records hold, found without parsing them."""
    separators = _SEPARATORS.get(name, _BLANKS)
    fields = count_fields(data, separators) if separators else len(memoryview(data))
    return fields * options.ngrams


def settle(name: str, options: FormatOptions, beginning: Sequence[Block]) -> FormatOptions:
    """The options with what the format learns from the first 10,000 records: csv's columns.

    A pure function of these records, given as one Block a source; decided once, for all inputs.
    """
    decide = getattr(format_named(name), "settle", None)
    return options if decide is None else cast("FormatOptions", decide(options, beginning))


def take_of(name: str) -> Callable[[Buffer, int], tuple[int, int]] | None:
    """How the format takes at most so many whole records off the front of data: their number, their bytes.

    None: a record is a line.
    """
    if name not in FORMATS:
        return None
    take = getattr(format_named(name), "take", None)
    return cast("Callable[[Buffer, int], tuple[int, int]] | None", take)

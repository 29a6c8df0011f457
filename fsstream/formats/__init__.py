"""The one table of formats: name -> module.

Each module is two functions: `head(data, final)`, how many bytes of `data` are whole records
(with `final`, nothing follows: all of them), and `parser(options)`, the native parser of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from fsstream._native import Parser
    from fsstream.formats.options import FormatOptions

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
}


class Format(Protocol):
    """What a module of this package offers."""

    def head(self, data: Buffer, final: bool) -> int:
        """Bytes up to the end of the last whole record of `data`; 0 when there is none."""

    def parser(self, options: FormatOptions) -> Parser:
        """A new native parser; one per thread."""


def format_named(name: str) -> Format:
    """The module of a format; KeyError when there is none of that name."""
    return cast("Format", import_module(FORMATS[name]))

"""Labelled DNA: `label<TAB>DNA`, one record a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import SeqParser
from fsstream.formats.lines import head
from fsstream.formats.sequences import kmer_options

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

__all__ = ["head", "parser"]


def parser(options: FormatOptions) -> SeqParser:
    """The native parser."""
    return SeqParser(*kmer_options(options))

"""Tokens text: `label token token ...`, one record a line; each occurrence counts 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import TokensParser
from fsstream.errors import UsageError
from fsstream.formats.lines import head

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

LONGEST_NGRAM = 16

__all__ = ["head", "parser"]


def parser(options: FormatOptions) -> TokensParser:
    """The native parser; `--ngrams` is its option."""
    if options.ngrams > LONGEST_NGRAM:
        raise UsageError(f"--ngrams {options.ngrams} is too long", hint=f"at most {LONGEST_NGRAM} words")
    return TokensParser(options.ngrams)

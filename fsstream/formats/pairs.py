"""Pairs text: `label name:value ...`, one record a line; the value follows the last colon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import PairsParser
from fsstream.formats.lines import head

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

__all__ = ["head", "parser"]


def parser(options: FormatOptions) -> PairsParser:
    """The native parser; the format has no options."""
    del options
    return PairsParser()

"""Vowpal Wabbit text: `label [weight] ['tag]|ns[:w] name[:value] ...`, one record a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import VwParser
from fsstream.formats.lines import head

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

__all__ = ["head", "parser"]


def parser(options: FormatOptions) -> VwParser:
    """The native parser; the format has no options."""
    del options
    return VwParser()

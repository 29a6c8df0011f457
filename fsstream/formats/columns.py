"""Columns text: a feature a line, `name sample:value ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import ColumnsParser
from fsstream.formats.lines import head

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

__all__ = ["head", "parser"]


def parser(options: FormatOptions) -> ColumnsParser:
    """The native parser; the format has no options."""
    del options
    return ColumnsParser()

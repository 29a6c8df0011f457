"""JSON Lines: one object a line; nested keys are joined by dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream._native import JsonlParser
from fsstream.formats.lines import head
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

__all__ = ["head", "parser"]

LABEL_KEY = "label"


def parser(options: FormatOptions) -> JsonlParser:
    """The native parser; the label stands under `--label-column`, else under `label`."""
    return JsonlParser(to_bytes(options.label_column or LABEL_KEY))

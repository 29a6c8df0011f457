"""What a user may say about the format of the input; each parser reads the part that is its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FormatOptions:
    """The options of the command line that reach parsers. None or empty: not given."""

    ngrams: int = 1  # tokens: the longest word n-gram

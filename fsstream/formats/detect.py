"""`--format auto`, and what a format needs to know of the beginning of the stream.

In: the input options and the first records, one Block a source. Out: the format and its options.
A function of the bytes of the first 10,000 records, never of how the stream was cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.errors import UsageError
from fsstream.formats.options import FormatOptions
from fsstream.formats.sequences import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.config import InputOptions
    from fsstream.sources import Block


@dataclass(frozen=True)
class Decided:
    """The format of a stream, why it was taken for that, and the options of its parser."""

    name: str
    why: str
    options: FormatOptions


def decide(options: InputOptions, beginning: Sequence[Block]) -> Decided:
    """The format as asked for, or as the first records look."""
    name, why = (options.format, "as asked for") if options.format != "auto" else detect(options, beginning)
    return Decided(
        name,
        why,
        FormatOptions(
            ngrams=options.ngrams,
            kmer=options.kmer,
            canonical=options.canonical,
            labels=read_labels(options.labels) if options.labels else {},
            normalize=options.normalize,
            keep=options.keep,
            ignore=options.ignore,
        ),
    )


def detect(options: InputOptions, beginning: Sequence[Block]) -> tuple[str, str]:
    """The format the first records look like, and what was seen."""
    raise UsageError("the format cannot be told yet", hint="say --format")

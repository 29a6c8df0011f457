"""What a user may say about the format of the input; each parser reads the part that is its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class FormatOptions:
    """The options of the command line that reach parsers. None or empty: not given."""

    ngrams: int = 1  # tokens: the longest word n-gram
    kmer: int | None = None  # seq, fasta, fastq: letters of a word
    canonical: bool | None = None  # whether a word and its reverse complement are one
    labels: Mapping[bytes, bytes] = field(default_factory=dict)  # fasta, fastq: id or file name -> label
    no_header: bool = False  # csv, tsv: no record names the columns, they are c1, c2, ...
    label_column: str | None = None  # csv, tsv: name or number; jsonl: key
    numeric: tuple[str, ...] = ()  # csv, tsv: columns, by name or number
    categorical: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # csv, tsv: cells that stand for no value
    needs_labels: bool = True  # False: rows may come without (prediction)
    columns: tuple[tuple[bytes, str], ...] = ()  # csv, tsv: names and kinds, as `settle` found them
    normalize: str = "none"  # l2: rows are scaled to unit length
    keep: tuple[str, ...] = ()  # shell patterns: only features whose name matches one of them
    ignore: tuple[str, ...] = ()  # and none of these

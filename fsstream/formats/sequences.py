"""What the formats of DNA share: the k-mer options, and the file of labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import DataError, UsageError, opening
from fsstream.text import without_mark

if TYPE_CHECKING:
    from fsstream.formats.options import FormatOptions

LONGEST_KMER = 32  # 2 bits a letter in a 64-bit key


def kmer_options(options: FormatOptions) -> tuple[int, bool]:
    """The word length and whether a word and its reverse complement are one; neither has a default."""
    if options.kmer is None:
        raise UsageError("sequences need --kmer K", hint="K up to 32; 31 is a common choice")
    if not 1 <= options.kmer <= LONGEST_KMER:
        raise UsageError(f"--kmer {options.kmer}: K must be 1 to {LONGEST_KMER}")
    if options.canonical is None:
        raise UsageError(
            "k-mers need --canonical or --no-canonical",
            hint="reads come from both strands: --canonical counts a word and its reverse complement as one",
        )
    return options.kmer, options.canonical


def read_labels(path: str | Path) -> dict[bytes, bytes]:
    """The table of `--labels`: a record id or a file name, a tab, its label; one pair a line."""
    labels: dict[bytes, bytes] = {}
    with opening(path):
        table = without_mark(Path(path).read_bytes())
    for number, line in enumerate(table.split(b"\n"), start=1):
        name, _, label = (part.strip() for part in line.partition(b"\t"))
        if not line.strip():
            continue
        if not name or not label:
            raise DataError(
                "expected name<TAB>label", path=str(path), line=number, hint="two columns with a tab between"
            )
        if labels.setdefault(name, label) != label:
            shown = name.decode(errors="backslashreplace")
            raise DataError(
                f"a second label for {shown!r}",
                path=str(path),
                line=number,
                hint="each name stands in one line",
            )
    return labels

"""K-mers as features: their keys, and which words are k-mers of a stream.

A name does not say which kind of k-mers it is one of: the letters are all there is, and a key knows not even
how many. So names that come from elsewhere are held against the stream they shall be found in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_TELLING = 7  # words: by chance all are canonical in fewer than one of a hundred selections
_COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def shown_kmers(kmer: int | None, canonical: bool | None) -> str:
    """What features are."""
    if kmer is None:
        return "no k-mers"
    return f"{'canonical ' if canonical else ''}{kmer}-mers"


def kmer_key(name: bytes) -> int:
    """The 2-bit code of a k-mer, first base highest."""
    key = 0
    for letter in name:
        key = key << 2 | b"ACGT".index(letter)
    return key


def other_strand(name: bytes) -> bytes:
    """The reverse complement: what a k-mer is read as from the other strand."""
    return name[::-1].translate(_COMPLEMENT)


def first_stranger(names: Iterable[bytes], kmer: int | None, canonical: bool | None) -> bytes | None:
    """The first name that is no k-mer of such a stream, None when all are."""
    for name in names:
        whole = len(name) == kmer and not name.strip(b"ACGT")
        if not whole or (canonical and name > other_strand(name)):
            return name
    return None


def look_canonical(names: Iterable[bytes]) -> bool:
    """Whether words that were selected from one strand would hardly all be smaller than their reverse
    complement: that chance is one half for each of them."""
    decided = [name < other for name in names if name != (other := other_strand(name))]
    return len(decided) >= LEAST_TELLING and all(decided)

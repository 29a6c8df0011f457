"""Names made to collide: in all bits of MurmurHash3, or in the cells of a count sketch whose seed is known.

Nothing here is searched for: every step of both hashes can be undone.
"""

from __future__ import annotations

import re
import struct
from itertools import count, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = (1 << 64) - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
PLAIN = re.compile(rb"[!-~\x80-\xff]+")


def _inverse(odd: int) -> int:
    return pow(odd, -1, 1 << 64)


def _rotl(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & WORD


def _unscramble(word: int, by: int, first: int, second: int) -> int:
    """k of word = rotl(k * first, by) * second."""
    return _rotl(word * _inverse(second) & WORD, 64 - by) * _inverse(first) & WORD


def _after(block: bytes) -> tuple[int, int]:
    """The state of MurmurHash3 (x64, 128 bits, seed 0) after a first block of 16 bytes."""
    k1, k2 = struct.unpack("<QQ", block)
    h1 = (_rotl(_rotl(k1 * C1 & WORD, 31) * C2 & WORD, 27) * 5 + 0x52DCE729) & WORD
    h2 = ((_rotl(_rotl(k2 * C2 & WORD, 33) * C1 & WORD, 31) + h1) * 5 + 0x38495AB5) & WORD
    return h1, h2


def _block_between(before: tuple[int, int], after: tuple[int, int]) -> bytes:
    """The block that leads from one state to the other."""
    mixed1 = ((after[0] - 0x52DCE729) * _inverse(5) - before[1]) & WORD
    mixed2 = ((after[1] - 0x38495AB5) * _inverse(5) - after[0]) & WORD
    return struct.pack(
        "<QQ",
        _unscramble(_rotl(mixed1, 37) ^ before[0], 31, C1, C2),
        _unscramble(_rotl(mixed2, 33) ^ before[1], 33, C2, C1),
    )


def colliding_names() -> Iterator[bytes]:
    """Names of 32 bytes, without white space or colons, all of one hash."""
    for number in count():
        first = b"collides%08d" % number
        second = _block_between(_after(first), (0x0123456789ABCDEF, 0xFEDCBA9876543210))
        if PLAIN.fullmatch(second) and b":" not in second and b"|" not in second:
            yield first + second


def _mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def _unmix(word: int) -> int:
    for by, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9)):
        word = (word ^ word >> by ^ word >> 2 * by) * _inverse(factor) & WORD
    return word ^ word >> 30 ^ word >> 60


def colliding_keys(key: int, width: int, seed: int) -> Iterator[int]:
    """Other keys with the cells and signs of this one in the first two rows of a sketch of that seed."""
    word_seed = _mix(seed + 0x9E3779B97F4A7C15 & WORD)
    mixed = _mix(key ^ word_seed)
    free = [bit for bit in range(64) if width >> bit % 32 <= 1 and bit % 32 != 31]
    free = [bit for bit in free if not (width - 1) >> (bit % 32) & 1]
    for number in islice(count(1), (1 << len(free)) - 1):
        changed = sum(1 << bit for place, bit in enumerate(free) if number >> place & 1)
        yield _unmix(mixed ^ changed) ^ word_seed

"""Streams that try to make a run outgrow its memory, as fast as a pipe takes them.

    names      rows of ten names that never come again
    classes    rows of four names, each with a label of its own
    late       rows of ten names that never come again, of three classes, and then of a hundred
    wide       rows of a million names, the same ones in every other row and new ones between
    skewed     one positive row in a hundred thousand; a few names are in every row, one never comes again
    rare       the same with one positive row in a million
    colliding  rows of two names with one hash in all its 128 bits, and of one that never comes again
    columns    features that never come again, each in two of a hundred samples

In: how many names, classes, or features. Out: whole lines, in pieces. All but the wide ones are tables of
bytes in which some digits change from piece to piece.
"""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from scripts.hostile_keys import colliding_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLES = 100  # of the columns
PER_ROW = 10
WIDE = 1_000_000
LOW = 10_000  # names that differ in their last four digits
HIGH_DIGITS = 7
PLACE = b"\x01" * HIGH_DIGITS  # where the digits stand that all names of a piece share


def names(count: int) -> Iterator[bytes]:
    """The label hangs on one of a hundred words."""
    lines = []
    for row in range(LOW // PER_ROW):
        word = row * 7919 % 100
        fresh = b" ".join(b"n" + PLACE + b"%04d" % (row * PER_ROW + at) for at in range(PER_ROW))
        lines.append(b"%d word%02d %b\n" % (word < 50, word, fresh))
    yield from _counted(b"".join(lines), count // LOW)


def classes(count: int) -> Iterator[bytes]:
    """Classes may come late: each comes once."""
    lines = (b"c%b%04d a%d b%d word%d\n" % (PLACE, at, at % 7, at % 11, at % 2) for at in range(LOW))
    yield from _counted(b"".join(lines), count // LOW)


def late(count: int) -> Iterator[bytes]:
    """The first three have learned a tenth of the names before the others come."""
    for known, pieces in ((3, count // LOW // 10), (100, count // LOW - count // LOW // 10)):
        lines = []
        for row in range(LOW // PER_ROW):
            fresh = b" ".join(
                b"n%d" % known + PLACE + b"%04d" % (row * PER_ROW + at) for at in range(PER_ROW)
            )
            lines.append(b"c%d word%d %b\n" % (row % known, row % 7, fresh))
        yield from _counted(b"".join(lines), pieces)


def wide(count: int) -> Iterator[bytes]:
    """Every other row has names that never come again."""
    known = b" ".join(b"k%06d" % at for at in range(WIDE))
    for row in range(count // WIDE):
        yield b"%d " % (row // 2 % 2)
        if row % 2 == 0:
            yield known
        else:
            for piece in range(WIDE // LOW):
                yield b" ".join(b"r%05dp%03d_%04d" % (row, piece, at) for at in range(LOW)) + b" "
        yield b"\n"


def skewed(count: int, every: int = 100_000) -> Iterator[bytes]:
    """The first row and then one of so many is positive."""
    lines = [b"0 all a%d b%d n%b%04d\n" % (at % 3, at % 7, PLACE, at) for at in range(LOW)]
    for piece, text in enumerate(_counted(b"".join(lines), count // LOW)):
        yield b"1" + text[1:] if piece % (every // LOW) == 0 else text


def rare(count: int) -> Iterator[bytes]:
    """One positive row in a million."""
    return skewed(count, 1_000_000)


def colliding(count: int) -> Iterator[bytes]:
    """A thousand names that share their hash."""
    hostile = cycle(islice(colliding_names(), 1000))
    lines = (b"%d %b %b n%b%04d\n" % (at % 2, next(hostile), next(hostile), PLACE, at) for at in range(LOW))
    yield from _counted(b"".join(lines), count // LOW)


def columns(count: int) -> Iterator[bytes]:
    """Values of a feature's two samples are 1."""
    lines = (b"n%b%04d %02d:1 %02d:1\n" % (PLACE, at, at % 49 + 1, at * 7919 % 50 + 50) for at in range(LOW))
    yield from _counted(b"".join(lines), count // LOW)


STREAMS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "names": names, "classes": classes, "late": late, "wide": wide,
    "skewed": skewed, "rare": rare, "colliding": colliding, "columns": columns,
}  # fmt: skip


def _counted(text: bytes, pieces: int) -> Iterator[bytes]:
    """The text again and again, with the number of the piece in every place for it."""
    table = np.frombuffer(text, np.uint8).copy()
    marked = table == PLACE[0]
    starts = np.flatnonzero(marked & ~np.roll(marked, 1))
    digits = starts[:, None] + np.arange(HIGH_DIGITS)
    for piece in range(pieces):
        table[digits] = np.frombuffer(b"%0*d" % (HIGH_DIGITS, piece), np.uint8)
        yield table.tobytes()

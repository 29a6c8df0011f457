"""A column stream of any length for the memory of `os`: nine-digit names, three values a column.

    python scripts/os_stream.py FEATURES --targets FILE > columns

1,000 samples. Among the columns stand 20 with 50 values each, `signal0` to `signal19`, evenly spread; the
targets, one a line, are what they add up to with Gaussian noise.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

SAMPLES, SIGNALS, BLOCK, SEED = 1000, 20, 10_000, 0
# A name, then three samples out of three ranges, so that none comes twice in a column.
LINE = b"1%08d 000:0 000:0 000:0\n"
PLACES = (10, 16, 22)  # of the samples in a line


def write_targets(targets: Path) -> None:
    """One a line."""
    targets.write_text("".join(f"{value:.4f}\n" for value in planted(np.random.default_rng(SEED))[1]))


def write(features: int, out: BinaryIO) -> None:
    """All columns, a block of lines at a time."""
    rng = np.random.default_rng(SEED)
    signals, _ = planted(rng)
    lines = np.frombuffer(b"".join(LINE % j for j in range(BLOCK)), np.uint8).reshape(BLOCK, -1).copy()
    blocks = features // BLOCK
    for block in range(blocks):
        lines[:, 1:5] = np.frombuffer(b"%04d" % block, np.uint8)
        draw(lines, rng)
        pieces = [lines.tobytes(), *(signals[i] for i in range(SIGNALS) if block == i * blocks // SIGNALS)]
        out.write(b"".join(pieces))


def planted(rng: np.random.Generator) -> tuple[list[bytes], NDArray[np.float64]]:
    """Columns that matter, as text, and the targets."""
    y = 0.5 * rng.standard_normal(SAMPLES)
    texts = []
    for place in range(SIGNALS):
        samples = rng.choice(SAMPLES, 50, replace=False)
        y[samples] += rng.choice([-1, 1]) * 2
        texts.append(b"signal%d" % place + b"".join(b" %d:1" % (sample + 1) for sample in samples) + b"\n")
    return texts, y


def draw(lines: NDArray[np.uint8], rng: np.random.Generator) -> None:
    """New samples and values into the lines: 100 to 399, 400 to 699 and 700 to 999; 1 to 9."""
    for first, place in zip((1, 4, 7), PLACES, strict=True):
        number = rng.integers(0, 300, len(lines), dtype=np.uint16)
        lines[:, place] = ord("0") + first + number // 100
        lines[:, place + 1] = ord("0") + number // 10 % 10
        lines[:, place + 2] = ord("0") + number % 10
        lines[:, place + 4] = ord("1") + rng.integers(0, 9, len(lines), dtype=np.uint8)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("features", type=int, help=f"a multiple of {BLOCK:,}, up to 10^8")
    arguments.add_argument("--targets", type=Path, required=True)
    given = arguments.parse_args()
    if given.features % BLOCK or not 0 < given.features <= 10**8:
        arguments.error(f"FEATURES is a multiple of {BLOCK:,}, up to 10^8")
    write_targets(given.targets)
    with open(sys.stdout.fileno(), "wb", closefd=False) as out:  # buffered whatever the environment says
        write(given.features, out)


if __name__ == "__main__":
    main()

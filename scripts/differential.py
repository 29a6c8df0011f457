"""Millions of random inputs, read by fsstream and by programs that know nothing of it.

    python scripts/differential.py [--lines N] [--numbers N] [--names N] [--reads N] [--jellyfish N]

    lines     libsvm text against scikit-learn's svmlight loader
    numbers   decimals of all lengths against Python's float, rounded once more to float32
    names     bytes of every length against the mmh3 package
    reads     k-mers of DNA with gaps, with and without strand, against a dict of words
    jellyfish the k-mers of as many reads together against that program, where it is installed

Ends with 1 at the first difference, and prints it.
"""

from __future__ import annotations

import argparse
import io
import itertools
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import mmh3
import numpy as np
from sklearn.datasets import load_svmlight_file

import fsstream
from fsstream._native import murmur3_64

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 20_000  # of any kind at once
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def decimal(rng: random.Random) -> str:
    """A number as somebody might write it, in the range of float32."""
    digits = "".join(rng.choices("0123456789", k=rng.choice((1, 2, 3, 6, 9, 12, 17, 25))))
    point = rng.randint(0, len(digits))
    text = f"{digits[:point]}.{digits[point:]}" if rng.random() < 0.7 else digits
    exponent = rng.choice(("", "", f"e{rng.randint(-45, 12)}", f"E+{rng.randint(0, 9)}"))
    return rng.choice(("", "", "-", "+")) + (text if text != "." else "0") + exponent


def is_nearest(text: str, value: float) -> bool:
    """Whether no other float32 is nearer: for the decimals that a float64 in between rounds twice."""
    exact, found = Fraction(text), np.float32(value)
    gap = abs(exact - Fraction(float(found)))
    beside = [np.nextafter(found, np.float32(side)) for side in (-np.inf, np.inf)]
    return all(gap <= abs(exact - Fraction(float(other))) for other in beside if np.isfinite(other))


def check_values(texts: list[str], values: np.ndarray) -> None:
    """The values are those of the texts."""
    once_more = np.array([float(text) for text in texts]).astype(np.float32)
    for at in np.flatnonzero(once_more != values).tolist():
        assert is_nearest(texts[at], values[at]), (texts[at], values[at])


def rows_of(text: bytes, **options: object) -> Iterator[fsstream.Rows]:
    return fsstream.read([text], **options)


def check_lines(count: int, rng: random.Random) -> None:
    """libsvm against scikit-learn."""
    lines, texts = [], []
    for _ in range(count):
        ids = sorted(rng.sample(range(1_000_000), rng.randint(0, 12)))
        numbers = [decimal(rng) for _ in ids]
        texts += numbers
        query = f"qid:{rng.randint(1, 9)} " if rng.random() < 0.2 else ""
        entries = " ".join(f"{i}:{x}" for i, x in zip(ids, numbers, strict=True))
        comment = rng.choice(("", "", " # 1:2 words"))
        lines.append(f"{rng.choice(('1', '-1', '+1', '0.25'))} {query}{entries}{comment}\n")
    text = "".join(lines).encode()
    matrix, targets = load_svmlight_file(io.BytesIO(text), n_features=1_000_000, zero_based=True)
    read = list(rows_of(text, format="libsvm"))
    assert [float(label) for rows in read for label in rows.labels] == targets.tolist()
    assert np.array_equal(np.concatenate([rows.ids for rows in read]), matrix.indices)
    sizes = np.concatenate([np.diff(rows.starts.astype(np.int64)) for rows in read])
    assert np.array_equal(sizes, np.diff(matrix.indptr))
    check_values(texts, np.concatenate([rows.values for rows in read]))


def check_numbers(count: int, rng: random.Random) -> None:
    """Values against float, in the format where a row is short."""
    texts = [decimal(rng) for _ in range(count)]
    text = "".join(f"1 x:{number}\n" for number in texts).encode()
    check_values(texts, np.concatenate([rows.values for rows in rows_of(text, format="pairs")]))


def check_names(count: int, rng: random.Random) -> None:
    """Hashes against mmh3."""
    for _ in range(count):
        name = rng.randbytes(rng.randint(0, 200))
        assert murmur3_64(name) == mmh3.hash64(name, 0, signed=False)[0], name


def check_reads(count: int, rng: random.Random) -> None:
    """k-mers against words cut from the text."""
    length, canonical = rng.randint(1, 32), rng.random() < 0.5
    letters, often = "ACGTacgtN", (9, 9, 9, 9, 1, 1, 1, 1, 1)
    reads = ["".join(rng.choices(letters, often, k=rng.randint(1, 90))) for _ in range(count)]
    wanted = [Counter(words(read.upper(), length, canonical)) for read in reads]
    text = "".join(f"1\t{read}\n" for read in reads).encode()
    at = 0
    for rows in rows_of(text, format="seq", kmer=length, canonical=canonical):
        starts, names, values = rows.starts.tolist(), rows.names, rows.values.tolist()
        for begin, end in itertools.pairwise(starts):
            found = dict(zip(names[begin:end], values[begin:end], strict=True))
            assert found == wanted[at], (reads[at], length, canonical)
            at += 1
    assert at == count


def check_jellyfish(count: int, rng: random.Random) -> None:
    """Counts over all reads, as fasta, against `jellyfish count` and `dump`."""
    length, canonical = rng.randint(2, 32), rng.random() < 0.5
    letters, often = "ACGTacgtN", (9, 9, 9, 9, 1, 1, 1, 1, 1)
    reads = ["".join(rng.choices(letters, often, k=rng.randint(1, 90))) for _ in range(count)]
    text = "".join(f">read{at} label=1\n{read}\n" for at, read in enumerate(reads))
    found: Counter[str] = Counter()
    for rows in rows_of(text.encode(), format="fasta", kmer=length, canonical=canonical):
        for name, value in zip(rows.names, rows.values.tolist(), strict=True):
            found[name] += int(value)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "reads.fa").write_text(text)
        strands = ["-C"] if canonical else []
        counting = ["count", "-m", str(length), "-s", "1M", "-t", "1", *strands, "-o", "counts", "reads.fa"]
        subprocess.run(["jellyfish", *counting], cwd=folder, check=True)
        dumped = subprocess.run(
            ["jellyfish", "dump", "-c", "counts"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    theirs = {word: int(often) for word, often in map(str.split, dumped.splitlines())}
    assert found == theirs, (length, canonical, set(found.items()) ^ set(theirs.items()))


def words(read: str, length: int, canonical: bool) -> Iterator[str]:
    """The windows of a read without other letters, each as itself or as the smaller strand."""
    for begin in range(len(read) - length + 1):
        word = read[begin : begin + length]
        if "N" not in word:
            yield min(word, word[::-1].translate(COMPLEMENT)) if canonical else word


CHECKS = {
    "lines": check_lines, "numbers": check_numbers, "names": check_names, "reads": check_reads,
    "jellyfish": check_jellyfish,
}  # fmt: skip
COUNTS = {
    "lines": 1_000_000,
    "numbers": 1_000_000,
    "names": 10_000_000,
    "reads": 100_000,
    "jellyfish": 100_000,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, count in COUNTS.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    given = vars(parser.parse_args())
    for name, check in CHECKS.items():
        if name == "jellyfish" and shutil.which(name) is None:
            print("jellyfish: skipped: it is not installed (Debian, Ubuntu: apt install jellyfish)")
            continue
        rng = random.Random(f"{name} {given['seed']}")
        left = given[name]
        while left > 0:
            check(min(left, PIECE), rng)
            left -= PIECE
        print(f"{name}: {given[name]:,} without a difference", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The bench stream, made from a seed: a long sparse planted logistic model as text.

Rows are bags of words: ids from a Zipf(1) law over 50 million, permuted; values tf-idf of
unit length, ids ascending. 3,033 planted weights lie at frequency ranks from 50 to a million,
1,458 of them under 20,000; a row holds about five. The labels are drawn so that the best
possible accuracy is 0.886.

    python scripts/stream_data.py DIR [--rows N] [--test-rows N] [--seed N]

leaves in DIR (what is there already is kept):
    train.svm train.vw train-names.vw, test.svm test.vw test-names.vw, truth.npz
`.svm` is libsvm text, `.vw` the same rows for Vowpal Wabbit, `-names` has 12-letter names.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

IDS = 50_000_000
FREQUENT = 20_000  # frequency rank below which planted features count as frequent
PLANTED = ((50, FREQUENT, 1458), (FREQUENT, 1_000_000, 1575))  # (lowest rank, end, how many)
TOKENS = 86  # mean length of a row; 79 different ones
BAYES_ACCURACY = 0.886
CHUNK = 20_000


@dataclass(frozen=True)
class Rows:
    """Some rows: entry i belongs to row[i]; ascending by row, then by id."""

    count: int
    row: np.ndarray
    rank: np.ndarray
    ids: np.ndarray
    values: np.ndarray


def id_of_rank(rank: np.ndarray) -> np.ndarray:
    """A fixed permutation of 0 .. IDS - 1 (a multiplier prime to 50 million), from 1."""
    return (rank * 19_283_747 + 7_654_321) % IDS + 1


def draw_rows(rng: np.random.Generator, count: int) -> Rows:
    """Bags of Zipf tokens, their term frequencies weighted and scaled to unit length."""
    lengths = np.maximum(rng.normal(TOKENS, TOKENS / 4, count), 8).astype(np.int64)
    rank = np.minimum(np.exp(rng.random(lengths.sum()) * np.log(IDS)), IDS - 1).astype(np.int64)
    token = np.repeat(np.arange(count), lengths) * (IDS + 1) + id_of_rank(rank)
    order = np.argsort(token, kind="stable")
    token, rank = token[order], rank[order]
    first = np.flatnonzero(np.diff(token, prepend=-1))
    times = np.diff(first, append=len(token))
    token, rank = token[first], rank[first]
    row, ids = np.divmod(token, IDS + 1)
    values = (1 + np.log(times)) * np.log1p(rank * np.log(IDS) / TOKENS)
    values /= np.sqrt(np.bincount(row, values**2, count))[row]
    return Rows(count, row, rank, ids, values)


@dataclass(frozen=True)
class Planted:
    """The model behind the labels, by frequency rank (ascending)."""

    rank: np.ndarray
    weight: np.ndarray

    def score(self, rows: Rows) -> np.ndarray:
        at = np.minimum(np.searchsorted(self.rank, rows.rank), len(self.rank) - 1)
        hit = self.rank[at] == rows.rank
        return np.bincount(rows.row[hit], self.weight[at[hit]] * rows.values[hit], rows.count)


def plant(rng: np.random.Generator) -> Planted:
    """Ranks thinning out as rank^-0.4, weights of both signs, scaled to the Bayes accuracy."""
    rank = []
    for low, end, count in PLANTED:
        among = np.arange(low, end)
        chance = among**-0.4
        rank.append(np.sort(rng.choice(among, count, replace=False, p=chance / chance.sum())))
    ranks = np.concatenate(rank)
    weight = rng.choice([-1, 1], len(ranks)) * rng.uniform(0.5, 1.5, len(ranks))
    score = Planted(ranks, weight).score(draw_rows(rng, CHUNK))
    low, high = 0.0, 1000.0
    for _ in range(40):
        scale = (low + high) / 2
        accuracy = np.mean(1 / (1 + np.exp(-scale * np.abs(score))))
        low, high = (scale, high) if accuracy < BAYES_ACCURACY else (low, scale)
    return Planted(ranks, scale * weight)


def digits_of(ids: np.ndarray) -> np.ndarray:
    """Decimal digits, one row of eight bytes each, 0 where a shorter number has none."""
    powers = 10 ** np.arange(7, -1, -1)
    digits = (ids[:, None] // powers % 10).astype(np.uint8) + ord("0")
    return np.where(ids[:, None] >= powers, digits, 0).astype(np.uint8)


def letters_of(ids: np.ndarray) -> np.ndarray:
    """Twelve letters that look like nothing; a bijection of the id."""
    mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(8)
    powers = np.uint64(26) ** np.arange(12, dtype=np.uint64)
    return (mixed[:, None] // powers % np.uint64(26)).astype(np.uint8) + ord("a")


def text_of(rows: Rows, names: np.ndarray, labels: list[bytes]) -> bytes:
    """Lines `label name:0.1234 ...`; `labels` come with all that stands before the entries."""
    width = names.shape[1]
    cells = np.zeros((len(names), width + 8), dtype=np.uint8)
    cells[:, 0] = ord(" ")
    cells[:, 1 : width + 1] = names
    cells[:, width + 1 : width + 4] = np.frombuffer(b":0.", np.uint8)
    fraction = np.clip(np.rint(rows.values * 10_000), 1, 9999).astype(np.int64)
    cells[:, width + 4 :] = (fraction[:, None] // (1000, 100, 10, 1) % 10).astype(np.uint8) + ord("0")
    used = cells != 0
    body = cells[used].tobytes()
    sizes = np.bincount(rows.row, used.sum(axis=1), rows.count).astype(np.int64)
    ends = np.cumsum(sizes).tolist()
    pieces = []
    for label, size, end in zip(labels, sizes.tolist(), ends, strict=True):
        pieces += (label, body[end - size : end], b"\n")
    return b"".join(pieces)


def write_rows(directory: Path, part: str, planted: Planted, rng: np.random.Generator, count: int) -> None:
    """The three texts of one part of the stream."""
    with (
        (directory / f"{part}.svm").open("wb") as svm,
        (directory / f"{part}.vw").open("wb") as vw,
        (directory / f"{part}-names.vw").open("wb") as named,
    ):
        for begin in range(0, count, CHUNK):
            rows = draw_rows(rng, min(CHUNK, count - begin))
            positive = rng.random(rows.count) < 1 / (1 + np.exp(-planted.score(rows)))
            labels = [b"1" if is_positive else b"-1" for is_positive in positive]
            digits = digits_of(rows.ids)
            svm.write(text_of(rows, digits, labels))
            bars = [label + b" |" for label in labels]
            vw.write(text_of(rows, digits, bars))
            named.write(text_of(rows, letters_of(rows.ids), bars))


def make(directory: Path, rows: int, test_rows: int, seed: int) -> Path:
    """The folder of this stream below `directory`, made if it is not there."""
    home = directory / f"stream-{rows}-{test_rows}-{seed}"
    if (home / "truth.npz").exists():
        return home
    home.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    planted = plant(rng)
    write_rows(home, "train", planted, rng, rows)
    write_rows(home, "test", planted, rng, test_rows)
    ids = id_of_rank(planted.rank)
    names = [row.tobytes().decode() for row in letters_of(ids)]
    np.savez(home / "truth.npz", ids=ids, names=names, ranks=planted.rank, weights=planted.weight)
    return home


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(tempfile.gettempdir()) / "fsstream-bench"
    )
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--test-rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(make(asked.directory, asked.rows, asked.test_rows, asked.seed))


if __name__ == "__main__":
    main()

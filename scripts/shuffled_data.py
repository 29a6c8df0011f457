"""Data sets in memory, for experiments: parsed by the native parsers, reordered row by row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard
from bench_stream import auc_of

import fsstream
from fsstream._native import Batch, LibsvmParser, TokensParser
from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task

if TYPE_CHECKING:
    from pathlib import Path

    from fsstream._native import Parser

# Sets cut from 20newsgroups by its given split: the two groups of each.
NEWSGROUPS = {
    "pcmac": (b"comp.sys.ibm.pc.hardware", b"comp.sys.mac.hardware"),
    "autos-motorcycles": (b"rec.autos", b"rec.motorcycles"),
    "crypt-electronics": (b"sci.crypt", b"sci.electronics"),
    "graphics-windows": (b"comp.graphics", b"comp.windows.x"),
    "guns-mideast": (b"talk.politics.guns", b"talk.politics.mideast"),
    "med-space": (b"sci.med", b"sci.space"),
}


@dataclass(frozen=True)
class Rows:
    """Compressed sparse rows with targets of -1 and +1."""

    starts: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The features that occur, and which of them each entry has; many models score the same rows."""
        return np.unique(self.keys, return_inverse=True)

    def taken(self, order: np.ndarray) -> Rows:
        """These rows in this order."""
        begins = self.starts[:-1].astype(np.int64)[order]
        sizes = np.diff(self.starts.astype(np.int64))[order]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
        return Rows(starts.astype(np.uint64), self.keys[entries], self.values[entries], self.targets[order])

    def batch(self) -> Batch:
        """What a learner sees."""
        return Batch.from_arrays(self.starts, self.keys, self.values, self.targets)

    def scores(self, names: list[bytes], weights: np.ndarray, intercept: float = 0.0) -> np.ndarray:
        """Predictions with the weights of features that are numbers."""
        distinct, places = self._columns
        chosen = np.array([int(name) for name in names], dtype=np.uint64)
        found = np.minimum(np.searchsorted(distinct, chosen), len(distinct) - 1)
        met = distinct[found] == chosen
        dense = np.zeros(len(distinct))
        dense[found[met]] = np.asarray(weights, float)[met]
        parts = dense[places] * self.values
        sums = np.concatenate([[0.0], np.cumsum(parts)])
        starts = self.starts.astype(np.int64)
        return sums[starts[1:]] - sums[starts[:-1]] + intercept

    def accuracy(self, names: list[bytes], weights: np.ndarray, intercept: float = 0.0) -> float:
        """Share of rows on the right side; a score of 0 is negative."""
        return float(np.mean((self.scores(names, weights, intercept) > 0) == (self.targets > 0)))


def read(path: Path) -> Rows:
    """A libsvm file, or a `.tsv` one of tokens, of two labels; the larger is positive."""
    return parsed(unpacked(path), TokensParser() if ".tsv" in path.suffixes else LibsvmParser())


def unpacked(path: Path) -> bytes:
    """The text of a file that may be compressed with zstd."""
    if path.suffix != ".zst":
        return path.read_bytes()
    return zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read()


def parsed(text: bytes, parser: Parser) -> Rows:
    """Rows of two labels; the larger is positive."""
    batch = Batch()
    parser.parse(text, batch)
    labels = batch.labels()
    positive = max(set(labels), key=lambda label: (_number(label), label))
    targets = np.where([label == positive for label in labels], 1, -1).astype(np.float32)
    return Rows(*(np.array(part) for part in (batch.row_starts, batch.keys, batch.values)), targets)


def _number(label: bytes) -> float:
    try:
        return float(label)
    except ValueError:
        return 0.0


def read_any(path: Path) -> Rows:
    """As `read`, and raw columns without a header, whose first one is the label."""
    if not path.parent.name.startswith("criteo"):
        return read(path)
    parts = [rows.batch for rows in fsstream.read(str(path), format="tsv", no_header=True, label_column="1")]
    starts = [np.array(part.row_starts) for part in parts]
    keys, values = (
        np.concatenate([np.array(getattr(part, name)) for part in parts]) for name in ("keys", "values")
    )
    sizes = np.concatenate([np.diff(start.astype(np.int64)) for start in starts])
    targets = np.concatenate([np.array(part.label_values) for part in parts])
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    return Rows(ends, keys, values, np.where(targets > 0, 1, -1).astype(np.float32))


def joined(first: Rows, second: Rows) -> Rows:
    """The rows of the one, then those of the other."""
    starts = np.concatenate([first.starts, first.starts[-1] + second.starts[1:]])
    columns = ((getattr(part, name) for part in (first, second)) for name in ("keys", "values", "targets"))
    return Rows(starts, *(np.concatenate(list(column)) for column in columns))


def learn_and_judge(
    name: str, k: int | None, settings: dict[str, Any], train: Rows, test: Rows, rate: float | None = None
) -> tuple[float, float]:
    """Test accuracy and AUC of a backend after one pass over the rows."""
    kind = backend(name)
    common = Common(k=k, learning_rate=rate, intercept=True)
    learner = kind(common, kind.Parameters(**settings), Task("logistic", ("-1", "1")))
    learner.update(train.batch())
    learner.end_pass()
    chosen = learner.selection()
    scores = test.scores(chosen.raw_names, chosen.weights, float(learner.intercepts()[0]))
    return float(np.mean((scores > 0) == (test.targets > 0))), auc_of(scores, test.targets > 0)


def two_newsgroups(path: Path, groups: tuple[bytes, bytes]) -> Rows:
    """The posts of two groups as tokens; their numbers (second column) are no words."""
    lines = (line.split(b"\t", 2) for line in unpacked(path).splitlines())
    chosen = [group + b"\t" + text + b"\n" for group, _, text in lines if group in groups]
    return parsed(b"".join(chosen), TokensParser())


def halves(folder: Path) -> tuple[Rows, Rows]:
    """Train and test rows of a data set; where there is one file, a fixed third is the test."""
    if folder.name in NEWSGROUPS:
        source, groups = folder.parent / "20newsgroups", NEWSGROUPS[folder.name]
        return tuple(two_newsgroups(source / f"{part}.tsv.zst", groups) for part in ("train", "test"))
    files = {path.name.split(".")[0]: path for path in sorted(folder.iterdir())}
    if "all" not in files:
        return read(files["train"]), read(files["test"])
    rows = read(files["all"])
    seed = int.from_bytes(hashlib.sha256(folder.name.encode()).digest()[:4])
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = 2 * len(rows) // 3
    return rows.taken(order[:cut]), rows.taken(order[cut:])

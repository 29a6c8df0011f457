"""The sets of the Sparse Random Features paper: rows, splits, and how a prediction is judged."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from data_files import parsed

from fsstream import _native

HELD = {"cpu_act": 819, "ijcnn1": 14_100}  # rows of the test half; else a fifth
LEARNED = {"cpu_act": 6_554}


@dataclass(frozen=True)
class Rows:
    """Dense rows (few inputs in all three sets) and targets."""

    X: np.ndarray
    y: np.ndarray

    def __len__(self):
        return len(self.y)

    def some(self, places):
        return Rows(self.X[places], self.y[places])

    def first(self, count):
        return Rows(self.X[:count], self.y[:count])

    def batch(self):
        filled = self.X != 0
        starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.uint64)
        keys = np.nonzero(filled)[1].astype(np.uint64)
        return _native.Batch.from_arrays(starts, keys, self.X[filled], self.y)


def read(path):
    batch, starts, keys = parsed(path)
    X = np.zeros((batch.rows, int(keys.max()) + 1), np.float32)
    X[np.repeat(np.arange(batch.rows), np.diff(starts)), keys] = batch.values
    return X, np.array(batch.label_values)


def load(name, data, official):
    """Train and test: the paper's random split, or that of the files."""
    folder = data / name
    if not folder.is_dir():
        sys.exit(f"{folder} is missing: --data names a folder with {name}/all.libsvm.zst, or train and test")
    if (folder / "all.libsvm.zst").exists():
        X, labels = read(folder / "all.libsvm.zst")
        parts = None
    else:
        pieces = [read(folder / f"{half}.libsvm.zst") for half in ("train", "test")]
        width = max(X.shape[1] for X, _ in pieces)
        X = np.concatenate([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X, _ in pieces])
        labels = np.concatenate([y for _, y in pieces])
        parts = len(pieces[0][1])
    y = labels / 99 if name == "cpu_act" else np.where(labels == labels.max(), 1.0, -1.0)
    rows = Rows(X, y.astype(np.float32))
    if official and parts:
        return rows.first(parts), rows.some(np.arange(parts, len(y)))
    order = np.random.default_rng(0).permutation(len(y))
    held = HELD.get(name, len(y) // 5)
    train = LEARNED.get(name, len(y) - held)
    return rows.some(order[:train]), rows.some(order[train : train + held])


def halves(train):
    """Nine tenths to learn from, one tenth to choose by."""
    order = np.random.default_rng(1).permutation(len(train))
    cut = len(train) // 10
    return train.some(order[cut:]), train.some(order[:cut])


def loss_of(rows):
    return "squared-hinge" if set(np.unique(rows.y)) == {-1.0, 1.0} else "squared"


def quality(loss, scores, y):
    """Accuracy, or RMSE."""
    if loss == "squared":
        return float(np.sqrt(np.mean((scores - y) ** 2)))
    return float(np.mean((scores > 0) == (y > 0)))


def better(loss, a, b):
    return a < b if loss == "squared" else a > b

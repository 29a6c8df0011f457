"""How good predictions are: accuracy, AUC, average precision, losses, F1, RMSE, MAE, R2.

Scores are kept exactly, five bytes a row, up to a limit; beyond it they are counted by their leading
20 bits, so that memory stays bounded. Ties share a rank, as in scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import LossMeter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsstream._native import Batch

EXACT_ROWS = 1 << 24
_COARSE_BITS = 20


class RankedScores:
    """Positive and negative rows by score: AUC and average precision."""

    def __init__(self, exact_rows: int = EXACT_ROWS) -> None:
        self._exact_rows = exact_rows
        self._chunks: list[tuple[NDArray[np.uint32], NDArray[np.bool_]]] = []
        self._rows = 0
        self._coarse: NDArray[np.int64] | None = None  # [negative or positive, leading bits]

    def add(self, scores: NDArray[np.float32], positive: NDArray[np.bool_]) -> None:
        """More rows."""
        ordered = _ordered_bits(scores)
        if self._coarse is not None:
            self._count(ordered, positive)
            return
        self._chunks.append((ordered, positive.copy()))
        self._rows += len(scores)
        if self._rows > self._exact_rows:
            self._coarse = np.zeros((2, 1 << _COARSE_BITS), np.int64)
            for chunk in self._chunks:
                self._count(*chunk)
            self._chunks = []

    def _count(self, ordered: NDArray[np.uint32], positive: NDArray[np.bool_]) -> None:
        assert self._coarse is not None
        place = ordered >> (32 - _COARSE_BITS)
        for side in (0, 1):
            counts = np.bincount(place[positive == bool(side)], minlength=1 << _COARSE_BITS)
            self._coarse[side] += counts

    def _groups(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Negatives and positives at each distinct score, highest first."""
        if self._coarse is not None:
            used = self._coarse.any(axis=0)
            negatives, positives = self._coarse[:, used][:, ::-1].astype(np.float64)
            return negatives, positives
        ordered = np.concatenate([chunk[0] for chunk in self._chunks] or [np.empty(0, np.uint32)])
        positive = np.concatenate([chunk[1] for chunk in self._chunks] or [np.empty(0, np.bool_)])
        _, place = np.unique(ordered, return_inverse=True)
        size = int(place.max()) + 1 if len(place) else 0
        counts = [np.bincount(place[positive == side], minlength=size)[::-1] for side in (False, True)]
        return counts[0].astype(np.float64), counts[1].astype(np.float64)

    def measures(self) -> dict[str, float | None]:
        """AUC and average precision; None when there is only one class."""
        negatives, positives = self._groups()
        all_negative, all_positive = negatives.sum(), positives.sum()
        if not all_negative or not all_positive:
            return {"auc": None, "average_precision": None}
        # A positive beats the negatives below it, and half of those at its own score.
        below = all_negative - np.cumsum(negatives)
        auc = float((positives * (below + negatives / 2)).sum() / (all_negative * all_positive))
        found = np.cumsum(positives)
        precision = found / (found + np.cumsum(negatives))
        return {"auc": auc, "average_precision": float((precision * positives).sum() / all_positive)}


def _ordered_bits(scores: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Unsigned numbers in the order of the scores; -0 equals 0."""
    bits = (scores.astype(np.float32) + np.float32(0)).view(np.uint32)
    negative = bits >> 31 == 1
    return np.where(negative, ~bits, bits | np.uint32(1 << 31))


class BinaryMetrics:
    """Of two classes. A positive score predicts the positive class."""

    def __init__(self, loss: str) -> None:
        self._loss = loss
        self._meter = LossMeter(loss)
        self._ranked = RankedScores()
        self._confusion = np.zeros((2, 2), np.int64)  # [truth, prediction]

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x 1."""
        self._meter.add(batch, scores)
        positive, predicted = batch.targets > 0, scores[:, 0] > 0
        self._ranked.add(scores[:, 0], positive)
        np.add.at(self._confusion, (positive.astype(int), predicted.astype(int)), 1)

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        counts = self._confusion
        rows = int(counts.sum())
        out: dict[str, Any] = {"rows": rows, "accuracy": float(np.trace(counts) / rows) if rows else None}
        out |= self._ranked.measures()
        out["loss"] = self._meter.mean
        if self._loss == "logistic":
            out["log_loss"] = self._meter.mean
        out["f1"] = _f1(counts)[1]
        return out


class ClassMetrics:
    """Of several classes. The highest score predicts; a class the model does not know counts as wrong."""

    def __init__(self, loss: str, labels: Sequence[str]) -> None:
        self._loss = loss
        self._labels = labels
        self._meter = LossMeter(loss)
        self._confusion = np.zeros((len(labels) + 1, len(labels)), np.int64)  # last row: unknown classes

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x classes."""
        self._meter.add(batch, scores)
        truth = np.where(np.isnan(batch.targets), len(self._labels), batch.targets).astype(int)
        np.add.at(self._confusion, (truth, scores.argmax(axis=1)), 1)

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        counts = self._confusion
        rows = int(counts.sum())
        per_class = _f1(counts)
        known = counts[:-1]
        out: dict[str, Any] = {"rows": rows, "accuracy": float(np.trace(known) / rows) if rows else None}
        out["loss"] = self._meter.mean
        if self._loss == "softmax":
            out["log_loss"] = self._meter.mean
        present = [index for index in range(len(self._labels)) if known[index].sum() or known[:, index].sum()]
        out["f1_macro"] = float(np.mean([per_class[index] for index in present])) if present else None
        out["f1"] = {self._labels[index]: per_class[index] for index in present}
        if counts[-1].sum():
            out["rows_of_unknown_classes"] = int(counts[-1].sum())
        return out


class NumberMetrics:
    """Of a regression: sums in double, R2 against the mean of the targets."""

    def __init__(self) -> None:
        self._rows = 0
        self._squares = self._absolute = 0.0
        self._mean = self._spread = 0.0  # of the targets, updated stably

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x 1."""
        if not batch.rows:
            return
        targets = batch.targets.astype(np.float64)
        error = targets - scores[:, 0]
        self._squares += float(error @ error)
        self._absolute += float(np.abs(error).sum())
        rows = self._rows + len(targets)
        shift = targets.mean() - self._mean
        self._spread += float(
            ((targets - targets.mean()) ** 2).sum() + shift**2 * self._rows * len(targets) / rows
        )
        self._mean += float(shift * len(targets) / rows)
        self._rows = rows

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        if not self._rows:
            return {"rows": 0}
        mse = self._squares / self._rows
        r2 = 1 - self._squares / self._spread if self._spread else None
        return {
            "rows": self._rows,
            "rmse": mse**0.5,
            "mae": self._absolute / self._rows,
            "r2": r2,
            "loss": mse,
        }


def make_metrics(kind: str, loss: str, labels: Sequence[str]) -> BinaryMetrics | ClassMetrics | NumberMetrics:
    """The measures that apply."""
    if kind == "binary":
        return BinaryMetrics(loss)
    return ClassMetrics(loss, labels) if kind == "classes" else NumberMetrics()


def _f1(counts: NDArray[np.int64]) -> list[float]:
    """F1 of each class from the confusion matrix."""
    out = []
    for index in range(counts.shape[1]):
        hits = counts[index, index]
        wrong = counts[:, index].sum() - hits + counts[index].sum() - hits
        out.append(float(2 * hits / (2 * hits + wrong)) if hits or wrong else 0.0)
    return out

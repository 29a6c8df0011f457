"""How good predictions are: accuracy, AUC, average precision, losses, F1, RMSE, MAE, R2.

Scores are kept exactly, five bytes a row (nine with weights), up to a limit; beyond it they are counted
by their leading 20 bits, so that memory stays bounded. Ties share a rank, and a row of weight w counts w
times, as in scikit-learn.
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
        self._chunks: list[tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.float32] | None]] = []
        self._rows = 0
        self._coarse: NDArray[np.float64] | None = None  # [negative or positive, leading bits]

    def add(
        self,
        scores: NDArray[np.float32],
        positive: NDArray[np.bool_],
        weights: NDArray[np.float32] | None = None,
    ) -> None:
        """More rows; without weights each counts once."""
        ordered = _ordered_bits(scores)
        if weights is not None:
            weights = None if (weights == 1).all() else weights.copy()
        if self._coarse is not None:
            self._count(ordered, positive, weights)
            return
        self._chunks.append((ordered, positive.copy(), weights))
        self._rows += len(scores)
        if self._rows > self._exact_rows:
            self._coarse = np.zeros((2, 1 << _COARSE_BITS))
            for chunk in self._chunks:
                self._count(*chunk)
            self._chunks = []

    def _count(
        self, ordered: NDArray[np.uint32], positive: NDArray[np.bool_], weights: NDArray[np.float32] | None
    ) -> None:
        assert self._coarse is not None
        self._coarse += _by_side(ordered >> (32 - _COARSE_BITS), positive, weights, 1 << _COARSE_BITS)

    def _groups(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Negatives and positives at each distinct score, highest first."""
        if self._coarse is not None:
            used = self._coarse.any(axis=0)
            negatives, positives = self._coarse[:, used][:, ::-1]
            return negatives, positives
        ordered = np.concatenate([chunk[0] for chunk in self._chunks] or [np.empty(0, np.uint32)])
        positive = np.concatenate([chunk[1] for chunk in self._chunks] or [np.empty(0, np.bool_)])
        weights = None
        if any(chunk[2] is not None for chunk in self._chunks):
            weights = np.concatenate(
                [
                    np.ones(len(chunk[0]), np.float32) if chunk[2] is None else chunk[2]
                    for chunk in self._chunks
                ]
            )
        _, place = np.unique(ordered, return_inverse=True)
        size = int(place.max()) + 1 if len(place) else 0
        negatives, positives = _by_side(place, positive, weights, size)[:, ::-1]
        return negatives, positives

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
        chosen = found + np.cumsum(negatives)
        precision = np.divide(found, chosen, out=np.zeros_like(found), where=chosen > 0)
        return {"auc": auc, "average_precision": float((precision * positives).sum() / all_positive)}


def _by_side(
    place: NDArray[Any], positive: NDArray[np.bool_], weights: NDArray[np.float32] | None, size: int
) -> NDArray[np.float64]:
    """Weight of the negatives and of the positives at each place."""
    sides = []
    for side in (False, True):
        here = positive == side
        of_side = None if weights is None else weights[here].astype(np.float64)
        sides.append(np.bincount(place[here], of_side, minlength=size).astype(np.float64))
    return np.stack(sides)


def _ordered_bits(scores: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Unsigned numbers in the order of the scores; -0 equals 0."""
    bits = (scores.astype(np.float32) + np.float32(0)).view(np.uint32)
    negative = bits >> 31 == 1
    return np.where(negative, ~bits, bits | np.uint32(1 << 31))


class BinaryMetrics:
    """Of two classes. A positive score predicts the positive class."""

    def __init__(self, loss: str, labels: Sequence[str]) -> None:
        self._loss = loss
        self._labels = labels
        self._meter = LossMeter(loss)
        self._ranked = RankedScores()
        self._rows = 0
        self._confusion = np.zeros((2, 2))  # [truth, prediction], by weight

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x 1."""
        self._meter.add(batch, scores)
        positive, predicted = batch.targets > 0, scores[:, 0] > 0
        self._ranked.add(scores[:, 0], positive, batch.importance)
        self._rows += batch.rows
        np.add.at(self._confusion, (positive.astype(int), predicted.astype(int)), batch.importance)

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        counts = self._confusion
        out: dict[str, Any] = {"rows": self._rows, "accuracy": _share(np.trace(counts), counts.sum())}
        out |= self._ranked.measures()
        out["loss"] = self._meter.mean
        if self._loss == "logistic":
            out["log_loss"] = self._meter.mean
        per_class = _f1(counts)
        out["f1"] = per_class[1]  # of the positive class
        out["f1_per_class"] = dict(zip(self._labels, per_class, strict=True))
        return out


class ClassMetrics:
    """Of several classes. The highest score predicts; a class the model does not know counts as wrong."""

    def __init__(self, loss: str, labels: Sequence[str]) -> None:
        self._loss = loss
        self._labels = labels
        self._meter = LossMeter(loss, classes=True)
        self._rows = self._unknown = 0
        self._confusion = np.zeros((len(labels) + 1, len(labels)))  # by weight; last row: unknown classes

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x classes."""
        self._meter.add(batch, scores)
        truth = np.where(np.isnan(batch.targets), len(self._labels), batch.targets).astype(int)
        self._rows += batch.rows
        self._unknown += int((truth == len(self._labels)).sum())
        np.add.at(self._confusion, (truth, scores.argmax(axis=1)), batch.importance)

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        counts = self._confusion
        per_class = _f1(counts)
        known = counts[:-1]
        out: dict[str, Any] = {"rows": self._rows, "accuracy": _share(np.trace(known), counts.sum())}
        out["loss"] = self._meter.mean
        if self._loss == "softmax":
            out["log_loss"] = self._meter.mean
        present = [index for index in range(len(self._labels)) if known[index].sum() or known[:, index].sum()]
        out["f1_macro"] = float(np.mean([per_class[index] for index in present])) if present else None
        out["f1"] = {self._labels[index]: per_class[index] for index in present}
        if self._unknown:
            out["rows_of_unknown_classes"] = self._unknown
        return out


class NumberMetrics:
    """Of a regression: sums in double, R2 against the mean of the targets."""

    def __init__(self) -> None:
        self._rows = 0
        self._weight = 0.0
        self._squares = self._absolute = 0.0
        self._mean = self._spread = 0.0  # of the targets, updated stably

    def add(self, batch: Batch, scores: NDArray[np.float32]) -> None:
        """More rows: their scores, rows x 1."""
        if not batch.rows:
            return
        targets = batch.targets.astype(np.float64)
        error = targets - scores[:, 0]
        self._rows += batch.rows
        weights = batch.importance.astype(np.float64)
        more = float(weights.sum())
        if not more:
            return
        self._squares += float(weights @ error**2)
        self._absolute += float(weights @ np.abs(error))
        mean = float(weights @ targets) / more
        shift, whole = mean - self._mean, self._weight + more
        self._spread += float(weights @ (targets - mean) ** 2) + shift**2 * self._weight * more / whole
        self._mean += shift * more / whole
        self._weight = whole

    def result(self) -> dict[str, Any]:
        """The measures by name."""
        if not self._weight:
            return {"rows": self._rows}
        mse = self._squares / self._weight
        r2 = 1 - self._squares / self._spread if self._spread else None
        return {
            "rows": self._rows,
            "rmse": mse**0.5,
            "mae": self._absolute / self._weight,
            "r2": r2,
            "loss": mse,
        }


def make_metrics(kind: str, loss: str, labels: Sequence[str]) -> BinaryMetrics | ClassMetrics | NumberMetrics:
    """The measures that apply."""
    if kind == "binary":
        return BinaryMetrics(loss, labels)
    return ClassMetrics(loss, labels) if kind == "classes" else NumberMetrics()


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _f1(counts: NDArray[np.float64]) -> list[float]:
    """F1 of each class from the confusion matrix."""
    out = []
    for index in range(counts.shape[1]):
        hits = counts[index, index]
        wrong = counts[:, index].sum() - hits + counts[index].sum() - hits
        out.append(float(2 * hits / (2 * hits + wrong)) if hits or wrong else 0.0)
    return out

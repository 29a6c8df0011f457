"""What is to be predicted: decided from the labels of the first records, never from blocks."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from fsstream._native import LabelMap, canonical_label
from fsstream.errors import DataError, UsageError
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fsstream.algorithms.learner import Learner

_OFTEN = 50  # records of a class, so that how they lie says something
TWO_CLASS_LOSSES = ("logistic", "squared-hinge", "hinge")


@dataclass(frozen=True)
class Labels:
    """The distinct labels of the first records, each by its one spelling."""

    numbers: dict[bytes, float]
    words: frozenset[bytes]
    sorted_by_class: bool = False  # the records come class after class, as they hardly would by chance

    def __len__(self) -> int:
        return len(self.numbers) + len(self.words)

    @classmethod
    def seen(cls, texts: Sequence[bytes], values: Iterable[float]) -> Labels:
        """From the label spans of a batch and their numbers (NaN: not a number)."""
        numbers: dict[bytes, float] = {}
        words = set()
        for text, value in dict(zip(texts, values, strict=True)).items():
            if not text:
                continue
            if math.isnan(value):
                words.add(text)
            else:
                numbers[canonical_label(text, value)] = value
        return cls(numbers, frozenset(words), _in_runs(texts))

    def ordered(self) -> list[bytes]:
        """Smaller number or earlier bytes first; a number and a word compare as bytes."""
        if self.words:
            return sorted([*self.numbers, *self.words])
        return sorted(self.numbers, key=self._exact)

    def _exact(self, label: bytes) -> float:
        """A whole number that a float need not hold, or a float: Python compares the two exactly."""
        return int(label) if label.removeprefix(b"-").isdigit() else self.numbers[label]


def _in_runs(texts: Sequence[bytes]) -> bool:
    counts = Counter(texts)
    changes = sum(label != following for label, following in pairwise(texts))
    return sum(count >= _OFTEN for count in counts.values()) > 1 and changes < 2 * len(counts)


def decide(loss: str, labels: Labels, backend: type[Learner]) -> tuple[str, str]:
    """The loss and the kind of target: `numbers`, `binary` or `classes`."""
    if loss == "auto":
        loss, kind = _guess(labels, backend)
    elif loss == "squared":
        if labels.words:
            word = to_text(sorted(labels.words)[0])
            raise DataError(
                f"--loss squared predicts numbers, and there is a label {word!r}",
                hint="classes need --loss softmax, or a two-class loss",
            )
        kind = "numbers"
    elif loss == "softmax":
        kind = "classes"
    else:
        kind = "binary" if len(labels) <= 2 else "classes"
    check_loss(loss, backend)
    return loss, kind


def check_loss(loss: str, backend: type[Learner]) -> None:
    """UsageError for a loss that the backend does not know."""
    if loss not in backend.losses:
        raise UsageError(
            f"{backend.name} cannot minimise the {loss} loss", hint=f"it can: {', '.join(backend.losses)}"
        )


def _guess(labels: Labels, backend: type[Learner]) -> tuple[str, str]:
    if len(labels) <= 2:
        return backend.auto_binary_loss, "binary"
    of_classes = "softmax" if "softmax" in backend.losses else backend.auto_binary_loss
    if labels.words:
        return of_classes, "classes"
    if any(value != int(value) for value in labels.numbers.values()):
        return "squared", "numbers"
    raise UsageError(
        f"the labels are {len(labels)} different whole numbers: classes or quantities?",
        hint=f"say --loss {of_classes} (or another) for classes"
        + (", --loss squared for quantities" if "squared" in backend.losses else ""),
    )


def start_labels(kind: str, labels: Labels, task_labels: Iterable[str] = ()) -> list[bytes]:
    """What the label map is told before the first row: both labels when both are known.

    With one label so far, which of the two is positive is not known yet: the map calls the first
    one it meets negative, and `turned` tells at the end whether that was wrong.
    """
    given = [to_bytes(label) for label in task_labels]
    if given:
        return given
    if kind == "binary":
        return labels.ordered() if len(labels) == 2 else []
    return []


def turned(kind: str, labels: Sequence[str]) -> bool:
    """Whether a binary map had its first label, taken for negative, in the positive's place."""
    if kind != "binary" or len(labels) < 2:
        return False
    return tuple(labels) != canonical_order(labels)


def canonical_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Smaller number or earlier bytes first."""
    met = [to_bytes(label) for label in labels]
    return tuple(map(to_text, Labels.seen(met, map(_number, met)).ordered()))


def _number(label: bytes) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan


def make_map(
    kind: str, known: list[bytes], max_classes: int, weights: Iterable[tuple[str, float]]
) -> LabelMap:
    """The map from labels as written to targets."""
    label_map = LabelMap(kind, known, max_classes)
    for label, weight in weights:
        label_map.set_weight(spelled(label), weight)
    return label_map


def spelled(label: str) -> bytes:
    """A label that the user names, as it is spelled in the data."""
    text = to_bytes(label)
    return canonical_label(text, _number(text))

"""Selection: which features were chosen, by what weight. Immutable; the end of every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Selection:
    """Parallel columns, one entry a selected feature; a model's are in output order.

    `raw_names` are bytes exactly as in the input, `names` the same as text; a learner gives `classes`
    by number, the runner names them; `classes` and `groups` are None when the run has none; `extra`
    holds further columns of numbers to be written under their own key (a stability share, say).

    >>> chosen = Selection([b"free", b"re"], np.array([0.5, -2], np.float32)).ranked()
    >>> chosen.names
    ['re', 'free']
    >>> chosen.to_dict()
    {'re': -2.0, 'free': 0.5}
    >>> print(chosen.to_jsonl(), end="")
    {"rank":1,"feature":"re","weight":-2.0}
    {"rank":2,"feature":"free","weight":0.5}
    """

    raw_names: Sequence[bytes]
    weights: NDArray[np.float32]
    classes: Sequence[str] | Sequence[int] | None = None
    groups: Sequence[str] | None = None
    extra: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = [self.weights, self.classes, self.groups, *self.extra.values()]
        if any(column is not None and len(column) != len(self.raw_names) for column in columns):
            raise ValueError("the columns of a selection have one entry a feature")

    def __len__(self) -> int:
        return len(self.raw_names)

    def __repr__(self) -> str:
        return f"<{len(self)} features: {self.beginning}>"

    @property
    def beginning(self) -> str:
        """The first names, for whoever looks at it in a shell."""
        return ", ".join(map(to_text, self.raw_names[:5])) + (", ..." if len(self) > 5 else "")

    @cached_property
    def names(self) -> list[str]:
        """The names as text; bytes that are not UTF-8 become lone surrogates."""
        return [to_text(name) for name in self.raw_names]

    @property
    def order(self) -> list[int]:
        """Output order: class after class, larger |weight| first, then the name in byte order."""
        sizes = np.abs(self.weights)
        ranks = np.zeros(len(self), dtype=np.int64)
        if self.classes is not None:
            rank_of_class = {label: rank for rank, label in enumerate(dict.fromkeys(self.classes))}
            ranks = np.array([rank_of_class[label] for label in self.classes], dtype=np.int64)
        order = np.lexsort((-sizes, ranks))
        level = (np.diff(sizes[order]) == 0) & (np.diff(ranks[order]) == 0)
        indices: list[int] = order.tolist()
        for begin, end in _runs(level):  # names decide among these
            indices[begin:end] = sorted(indices[begin:end], key=self.raw_names.__getitem__)
        return indices

    def ranked(self) -> Selection:
        """The same features in output order."""
        order = self.order
        return Selection(
            [self.raw_names[i] for i in order],
            self.weights[order],
            None if self.classes is None else [self.classes[i] for i in order],  # type: ignore[arg-type]
            None if self.groups is None else [self.groups[i] for i in order],
            {key: column[order] for key, column in self.extra.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Weights by name; with several classes, such a dict for each class."""
        weights = [float(weight) for weight in self.weights]
        if self.classes is None:
            return dict(zip(self.names, weights, strict=True))
        by_class: dict[str, dict[str, float]] = {str(label): {} for label in dict.fromkeys(self.classes)}
        for label, name, weight in zip(self.classes, self.names, weights, strict=True):
            by_class[str(label)][name] = weight
        return by_class

    def to_jsonl(self) -> str:
        """What the command writes: one object a line, largest |weight| first."""
        from fsstream.output import selection_lines

        return selection_lines(self).decode()


def _runs(equals_next: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where runs of equals begin and end, singles left out."""
    padded = np.concatenate([[False], equals_next, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [(int(begin), int(end) + 1) for begin, end in edges.reshape(-1, 2)]
